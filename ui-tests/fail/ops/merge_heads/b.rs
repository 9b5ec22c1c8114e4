//! Merging heads keeps the batch.
//! Covers `B` of `ops::merge_heads`.
//! Right with `Batch` for `Other` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; NumHeads = 4; HeadDim = 2; Batch; Other; }

fn merged(
    heads: Tensor<(Other, NumHeads, SrcLen, HeadDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, Product<NumHeads, HeadDim>), f32, Cpu> {
    merge_heads(heads)
}

fn main() {}
