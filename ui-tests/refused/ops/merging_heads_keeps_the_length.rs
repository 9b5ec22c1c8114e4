//! Merging heads keeps the length.
//! Proves `S` of `ops::merge_heads`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; HeadDim = 2; Batch; }

fn merged(
    heads: Tensor<(Batch, NumHeads, TgtLen, HeadDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, Product<NumHeads, HeadDim>), f32, Cpu> {
    merge_heads(heads)
}

fn main() {}
