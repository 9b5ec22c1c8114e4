//! Merging heads keeps the number of heads.
//! Covers `H` of `ops::merge_heads`.
//! Right with `NumHeads` for `OtherHeads` in line 9.
use typed_transformer::prelude::*;

dims! { NumHeads = 4; OtherHeads = 4; HeadDim = 2; SeqLen; Batch; }

fn merged(
    heads: Tensor<(Batch, OtherHeads, SeqLen, HeadDim), f32, Cpu>,
) -> Tensor<(Batch, SeqLen, Product<NumHeads, HeadDim>), f32, Cpu> {
    merge_heads(heads)
}

fn main() {}
