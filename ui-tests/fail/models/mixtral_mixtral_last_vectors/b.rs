//! The vectors of the last tokens keep the batch.
//! Covers `B` of `models::mixtral::Mixtral::last_vectors`.
//! Right with `Batch` for `OtherBatch` in line 13.
//! Mutants cover `S` by `SrcLen`, `Last` by `Next` of `models::mixtral::Mixtral::last_vectors`.
use typed_transformer::{models::{llama::LlamaConfig, mixtral::{Mixtral, MixtralConfig}}, nn::CacheOf, prelude::*};

dims! { Letters = 28; Width = 8; SrcLen = 5; Next = 1; Batch; OtherBatch; }

trait Writer: LlamaConfig<VocabSize = Letters, EmbedDim = Width> + MixtralConfig {}

fn last_vectors<Config: Writer>(
    model: &Mixtral<Config, f32, Cpu>,
    ids: &TokenIds<OtherBatch, SrcLen, Letters>,
    cache: &mut CacheOf<Mixtral<Config, f32, Cpu>, Batch>,
) -> Result<Tensor<(Batch, Next, Width), f32, Cpu>, OpError> {
    model.last_vectors::<Batch, SrcLen, Next>(ids, cache, Next)
}

fn main() {}
