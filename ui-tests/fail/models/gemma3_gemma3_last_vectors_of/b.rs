//! The vectors of the last embeddings keep the batch.
//! Covers `B` of `models::gemma3::Gemma3::last_vectors_of`.
//! Right with `Batch` for `OtherBatch` in line 13.
//! Mutants cover `S` by `SrcLen`, `Last` by `Next` of `models::gemma3::Gemma3::last_vectors_of`.
use typed_transformer::{models::gemma3::{Gemma3, Gemma3Config}, nn::CacheOf, prelude::*};

dims! { Width = 8; SrcLen = 5; Next = 1; Batch; OtherBatch; }

trait Writer: Gemma3Config<EmbedDim = Width> {}

fn last_vectors<Config: Writer>(
    model: &Gemma3<Config, f32, Cpu>,
    embeddings: Tensor<(OtherBatch, SrcLen, Width), f32, Cpu>,
    cache: &mut CacheOf<Gemma3<Config, f32, Cpu>, Batch>,
) -> Result<Tensor<(Batch, Next, Width), f32, Cpu>, OpError> {
    model.last_vectors_of::<Batch, SrcLen, Next>(embeddings, cache, Next)
}

fn main() {}
