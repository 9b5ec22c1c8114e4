//! The cache of a decoder-only model is made for its own batch.
//! Covers `B` of `nn::DecoderOnly::cache`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{nn::Cache, prelude::*};

dims! { Letters = 28; MaxLen = 16; NumLayers = 2; Batch; OtherBatch; }

trait Writer: SingleStack<VocabSize = Letters, MaxSeqLen = MaxLen, NumLayers = NumLayers> {}

fn begin<M: Writer>(model: &DecoderOnly<M, f32, Cpu>, batch: OtherBatch) {
    let _cache: Result<Cache<Batch, MaxLen, NumLayers, M, f32, Cpu>, OpError> = model.cache(batch);
}

fn main() {}
