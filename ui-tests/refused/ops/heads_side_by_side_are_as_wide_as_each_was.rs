//! Heads side by side are as wide as each was.
//! Proves `HeadDim` of `ops::merge_heads`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; NumHeads = 4; HeadDim = 2; Batch; }

fn merged(
    heads: Tensor<(Batch, NumHeads, SrcLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, Product<NumHeads, HeadDim>), f32, Cpu> {
    merge_heads(heads)
}

fn main() {}
