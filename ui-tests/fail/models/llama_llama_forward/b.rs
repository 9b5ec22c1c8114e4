//! A model keeps the batch.
//! Covers `B` of `models::llama::Llama::forward`.
//! Right with `Batch` for `OtherBatch` in line 13.
//! Mutants cover `S` by `SrcLen` of `models::llama::Llama::forward`.
use typed_transformer::{models::llama::{Llama, LlamaConfig}, prelude::*};

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; TgtLen = 20; Batch; OtherBatch; }

trait Writer: LlamaConfig<VocabSize = Letters, MaxSeqLen = MaxLen> {}

fn logits<Config: Writer>(
    model: &Llama<Config, f32, Cpu>,
    ids: &TokenIds<OtherBatch, SrcLen, Letters>,
) -> Result<Tensor<(Batch, SrcLen, Letters), f32, Cpu>, OpError> {
    model.forward(ids, NoneTape)
}

fn main() {}
