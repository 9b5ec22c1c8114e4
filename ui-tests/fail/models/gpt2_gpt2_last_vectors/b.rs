//! The vectors of the last tokens keep the batch.
//! Covers `B` of `models::gpt2::Gpt2::last_vectors`.
//! Right with `Batch` for `OtherBatch` in line 13.
//! Mutants cover `S` by `SrcLen`, `Last` by `Next` of `models::gpt2::Gpt2::last_vectors`.
use typed_transformer::{models::gpt2::{Gpt2, Gpt2Config}, nn::CacheOf, prelude::*};

dims! { Letters = 28; Width = 8; SrcLen = 5; Next = 1; Batch; OtherBatch; }

trait Writer: Gpt2Config<VocabSize = Letters, EmbedDim = Width> {}

fn last_vectors<Config: Writer>(
    model: &Gpt2<Config, f32, Cpu>,
    ids: &TokenIds<OtherBatch, SrcLen, Letters>,
    cache: &mut CacheOf<Gpt2<Config, f32, Cpu>, Batch>,
) -> Result<Tensor<(Batch, Next, Width), f32, Cpu>, OpError> {
    model.last_vectors::<Batch, SrcLen, Next>(ids, cache, Next)
}

fn main() {}
