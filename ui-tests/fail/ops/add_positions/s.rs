//! Positions have the length of the sequence that they are added to.
//! Covers `S` of `ops::add_positions`.
//! Right with `SrcLen` for `TgtLen` in line 11.
//! Mutants cover `B` by `Batch`, `M` by `EmbedDim` of `ops::add_positions`.
use typed_transformer::prelude::*;

dims! { SrcLen = 4; TgtLen = 4; EmbedDim = 8; Batch; }

fn placed(
    embeds: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    positions: Tensor<(TgtLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    add_positions(embeds, positions)
}

fn main() {}
