//! The vectors of the last tokens keep the batch.
//! Covers `B` of `models::llama::Llama::last_vectors`.
//! Right with `Batch` for `OtherBatch` in line 13.
//! Mutants cover `S` by `SrcLen`, `Last` by `Next` of `models::llama::Llama::last_vectors`.
use typed_transformer::{models::llama::{Llama, LlamaConfig}, nn::CacheOf, prelude::*};

dims! { Letters = 28; Width = 8; SrcLen = 5; Next = 1; Batch; OtherBatch; }

trait Writer: LlamaConfig<VocabSize = Letters, EmbedDim = Width> {}

fn last_vectors<Config: Writer>(
    model: &Llama<Config, f32, Cpu>,
    ids: &TokenIds<OtherBatch, SrcLen, Letters>,
    cache: &mut CacheOf<Llama<Config, f32, Cpu>, Batch>,
) -> Result<Tensor<(Batch, Next, Width), f32, Cpu>, OpError> {
    model.last_vectors::<Batch, SrcLen, Next>(ids, cache, Next)
}

fn main() {}
