//! The vectors of the last tokens keep the batch.
//! Covers `B` of `models::gemma3::Gemma3::last_vectors`.
//! Right with `Batch` for `OtherBatch` in line 13.
//! Mutants cover `S` by `SrcLen`, `Last` by `Next` of `models::gemma3::Gemma3::last_vectors`.
use typed_transformer::{models::gemma3::{Gemma3, Gemma3Config}, nn::CacheOf, prelude::*};

dims! { Letters = 28; Width = 8; SrcLen = 5; Next = 1; Batch; OtherBatch; }

trait Writer: Gemma3Config<VocabSize = Letters, EmbedDim = Width> {}

fn last_vectors<Config: Writer>(
    model: &Gemma3<Config, f32, Cpu>,
    ids: &TokenIds<OtherBatch, SrcLen, Letters>,
    cache: &mut CacheOf<Gemma3<Config, f32, Cpu>, Batch>,
) -> Result<Tensor<(Batch, Next, Width), f32, Cpu>, OpError> {
    model.last_vectors::<Batch, SrcLen, Next>(ids, cache, Next)
}

fn main() {}
