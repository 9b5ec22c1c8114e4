//! A position table has at least one row per position.
//! Covers `MaxSeqLen` of `ops::learned_positions`.
//! Right with `MaxLen` for `Short` in line 9.
use typed_transformer::prelude::*;

dims! { MaxLen = 16; Short = 4; SrcLen = 5; EmbedDim = 8; }

fn positions(
    table: &Tensor<(Short, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(SrcLen, EmbedDim), f32, Cpu>, OpError> {
    learned_positions(table, SrcLen)
}

fn main() {}
