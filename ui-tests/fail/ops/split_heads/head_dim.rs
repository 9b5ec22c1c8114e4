//! Split heads have the width that the projection was made for.
//! Covers `HeadDim` of `ops::split_heads`.
//! Right with `HeadDim` for `EmbedDim` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; NumHeads = 4; HeadDim = 2; Batch; }

fn heads(
    projected: Tensor<(Batch, SrcLen, Product<NumHeads, EmbedDim>), f32, Cpu>,
) -> Tensor<(Batch, NumHeads, SrcLen, HeadDim), f32, Cpu> {
    split_heads(projected)
}

fn main() {}
