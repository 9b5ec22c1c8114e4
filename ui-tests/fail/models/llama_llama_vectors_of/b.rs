//! The padding is that of the batch.
//! Covers `B` of `models::llama::Llama::vectors_of`.
//! Right with `Batch` for `OtherBatch` in line 14.
//! Mutants cover `S` by `SrcLen` of `models::llama::Llama::vectors_of`.
use typed_transformer::{models::llama::{Llama, LlamaConfig}, prelude::*};

dims! { Letters = 28; Width = 8; MaxLen = 16; SrcLen = 5; TgtLen = 20; Batch; OtherBatch; }

trait Writer: LlamaConfig<VocabSize = Letters, MaxSeqLen = MaxLen, EmbedDim = Width> {}

fn vectors<Config: Writer>(
    model: &Llama<Config, f32, Cpu>,
    embeddings: Tensor<(Batch, SrcLen, Width), f32, Cpu>,
    padding: &PaddingMask<OtherBatch, SrcLen>,
) -> Result<Tensor<(Batch, SrcLen, Width), f32, Cpu>, OpError> {
    model.vectors_of(embeddings, padding)
}

fn main() {}
