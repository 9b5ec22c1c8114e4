//! A table of positions has a row for each of a sequence.
//! Proves `MaxSeqLen` of `ops::learned_positions`.
use typed_transformer::prelude::*;

dims! { MaxLen = 16; Short = 4; SrcLen = 5; EmbedDim = 8; }

fn positions(
    table: &Tensor<(MaxLen, EmbedDim), f32, Cpu>,
) -> Tensor<(SrcLen, EmbedDim), f32, Cpu> {
    learned_positions(table, SrcLen)
}

fn main() {}
