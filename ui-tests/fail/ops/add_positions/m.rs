//! Positions have the width of the embeddings that they are added to.
//! Covers `M` of `ops::add_positions`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn place(
    embeds: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    positions: Tensor<(SrcLen, HiddenDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    add_positions(embeds, positions)
}

fn main() {}
