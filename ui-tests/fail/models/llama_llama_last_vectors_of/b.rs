//! The vectors of the last embeddings keep the batch.
//! Covers `B` of `models::llama::Llama::last_vectors_of`.
//! Right with `Batch` for `OtherBatch` in line 13.
//! Mutants cover `S` by `SrcLen`, `Last` by `Next` of `models::llama::Llama::last_vectors_of`.
use typed_transformer::{models::llama::{Llama, LlamaConfig}, nn::CacheOf, prelude::*};

dims! { Width = 8; SrcLen = 5; Next = 1; Batch; OtherBatch; }

trait Writer: LlamaConfig<EmbedDim = Width> {}

fn last_vectors<Config: Writer>(
    model: &Llama<Config, f32, Cpu>,
    embeddings: Tensor<(OtherBatch, SrcLen, Width), f32, Cpu>,
    cache: &mut CacheOf<Llama<Config, f32, Cpu>, Batch>,
) -> Result<Tensor<(Batch, Next, Width), f32, Cpu>, OpError> {
    model.last_vectors_of::<Batch, SrcLen, Next>(embeddings, cache, Next)
}

fn main() {}
