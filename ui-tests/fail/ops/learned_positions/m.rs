//! Learned positions have the width of their table.
//! Covers `M` of `ops::learned_positions`.
//! Right with `EmbedDim` for `HiddenDim` in line 9.
use typed_transformer::prelude::*;

dims! { MaxLen = 16; SrcLen = 5; EmbedDim = 8; HiddenDim = 32; }

fn positions(
    table: &Tensor<(MaxLen, HiddenDim), f32, Cpu>,
) -> Tensor<(SrcLen, EmbedDim), f32, Cpu> {
    learned_positions(table, SrcLen)
}

fn main() {}
