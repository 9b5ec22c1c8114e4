//! Adding positions keeps the batch.
//! Covers `B` of `ops::add_positions`.
//! Right with `Batch` for `OtherBatch` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn place(
    embeds: Tensor<(OtherBatch, SrcLen, EmbedDim), f32, Cpu>,
    positions: Tensor<(SrcLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    add_positions(embeds, positions)
}

fn main() {}
