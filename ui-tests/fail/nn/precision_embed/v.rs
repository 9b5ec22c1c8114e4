//! A stored table has a row for each token of the vocabulary.
//! Covers `V` of `nn::Precision::embed`.
//! Right with `Letters` for `Sounds` in line 11.
//! Mutants cover `B` by `Batch`, `S` by `Len`, `M` by `EmbedDim` of `nn::Precision::embed`.
use typed_transformer::{nn::{Packed, Precision, Q8}, prelude::*};

dims! { Letters = 28; Sounds = 28; EmbedDim = 8; KeyDim = 8; Len; OtherLen; Batch; OtherBatch; }

fn look_up(
    table: &Packed<(Letters, EmbedDim), Cpu, Q8>,
    ids: &TokenIds<Batch, Len, Sounds>,
) -> Result<Tensor<(Batch, Len, EmbedDim), f32, Cpu>, OpError> {
    Q8::embed(table, ids, NoneTape)
}

fn main() {}
