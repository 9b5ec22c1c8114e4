//! Positions come from the table that the model has.
//! Covers `MaxSeqLen` of `ops::learned_positions_from`.
//! Right with `MaxLen` for `Short` in line 10.
//! Mutants cover `S` by `SeqLen`, `M` by `EmbedDim` of `ops::learned_positions_from`.
use typed_transformer::{ops::learned_positions_from, prelude::*};

dims! { MaxLen = 16; Short = 16; SeqLen; EmbedDim = 8; }

fn positions(
    table: &Tensor<(Short, EmbedDim), f32, Cpu>,
    next: SeqLen,
) -> Result<Tensor<(SeqLen, EmbedDim), f32, Cpu>, OpError> {
    learned_positions_from::<SeqLen, MaxLen, EmbedDim, f32, Cpu, NoneTape>(table, 3, next)
}

fn main() {}
