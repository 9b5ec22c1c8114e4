//! A table of positions has no rows past its last.
//! Proves `S` of `ops::learned_positions`.
use typed_transformer::prelude::*;

dims! { MaxSeqLen = 16; SeqLen = 16; EmbedDim = 8; }

fn positions(
    table: &Tensor<(MaxSeqLen, EmbedDim), f32, Cpu>,
) -> Tensor<(SeqLen, EmbedDim), f32, Cpu> {
    learned_positions(table, SeqLen)
}

fn main() {}
