//! A permutation has no axis of its own.
//! Proves `To` of `ops::permute`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; OtherLen = 6; NumHeads = 4; Batch; }

fn heads_first(
    heads: Tensor<(Batch, SrcLen, NumHeads), f32, Cpu>,
) -> Tensor<(NumHeads, Batch, SrcLen), f32, Cpu> {
    permute(heads)
}

fn main() {}
