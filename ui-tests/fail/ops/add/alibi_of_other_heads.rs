//! The biases of heads are added to the scores of these heads.
//! Right with `NumHeads` for `KeyValueHeads` in line 12.
use typed_transformer::{ops::{add, alibi}, prelude::*};

dims! { NumHeads = 4; KeyValueHeads = 2; QLen; KLen; Batch; }

fn with_distances(
    scores: Tensor<(Batch, NumHeads, QLen, KLen), f32, Cpu>,
    q: QLen,
    k: KLen,
) -> Tensor<(Batch, NumHeads, QLen, KLen), f32, Cpu> {
    let bias = alibi(&Cpu::default(), KeyValueHeads, 0, q, k);
    add(scores, &bias)
}

fn main() {}
