//! Positions are added to a sequence of their own length.
//! Proves `S` of `ops::add_positions`.
use typed_transformer::prelude::*;

dims! { SrcLen = 4; TgtLen = 4; EmbedDim = 8; Batch; }

fn placed(
    embeds: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    positions: Tensor<(SrcLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    add_positions(embeds, positions)
}

fn main() {}
