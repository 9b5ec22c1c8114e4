//! A sequence is at most as long as its position table.
//! Covers `S` of `ops::learned_positions`.
//! Right with `16` for `17` in line 7.
//! Mutants cover `M` by `EmbedDim` of `ops::learned_positions`.
use typed_transformer::prelude::*;

dims! { MaxSeqLen = 16; SeqLen = 17; EmbedDim = 8; }

fn positions(
    table: &Tensor<(MaxSeqLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(SeqLen, EmbedDim), f32, Cpu>, OpError> {
    learned_positions(table, SeqLen)
}

fn main() {}
