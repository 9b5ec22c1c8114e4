//! The padding is that of the batch.
//! Covers `B` of `models::gemma3::Gemma3::vectors_of`.
//! Right with `Batch` for `OtherBatch` in line 17.
//! Mutants cover `S` by `SrcLen` of `models::gemma3::Gemma3::vectors_of`.
use typed_transformer::{
    models::gemma3::{Gemma3, Gemma3Config},
    prelude::*,
};

dims! { Letters = 28; Width = 8; MaxLen = 16; SrcLen = 5; TgtLen = 20; Batch; OtherBatch; }

trait Writer: Gemma3Config<VocabSize = Letters, MaxSeqLen = MaxLen, EmbedDim = Width> {}

fn vectors<Config: Writer>(
    model: &Gemma3<Config, f32, Cpu>,
    embeddings: Tensor<(Batch, SrcLen, Width), f32, Cpu>,
    padding: &PaddingMask<OtherBatch, SrcLen>,
) -> Result<Tensor<(Batch, SrcLen, Width), f32, Cpu>, OpError> {
    model.vectors_of(embeddings, padding)
}

fn main() {}
