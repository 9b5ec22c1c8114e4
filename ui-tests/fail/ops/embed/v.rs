//! Embedded tokens belong to the vocabulary of the table.
//! Covers `V` of `ops::embed`.
//! Right with `Letters` for `Sounds` in line 11.
//! Mutants cover `B` by `Batch`, `M` by `EmbedDim` of `ops::embed`.
use typed_transformer::prelude::*;

dims! { Letters = 28; Sounds = 28; EmbedDim = 8; SeqLen; Batch; }

fn embeds(
    table: &Tensor<(Letters, EmbedDim), f32, Cpu>,
    ids: &TokenIds<Batch, SeqLen, Sounds>,
) -> Result<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, OpError> {
    embed(table, ids, NoneTape)
}

fn main() {}
