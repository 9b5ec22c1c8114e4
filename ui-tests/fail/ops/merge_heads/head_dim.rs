//! Merging heads keeps the width of each head.
//! Covers `HeadDim` of `ops::merge_heads`.
//! Right with `HeadDim` for `EmbedDim` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; NumHeads = 4; HeadDim = 2; Batch; }

fn merged(
    heads: Tensor<(Batch, NumHeads, SrcLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, Product<NumHeads, HeadDim>), f32, Cpu> {
    merge_heads(heads)
}

fn main() {}
