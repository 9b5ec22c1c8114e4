//! A cache begins with the batch that it is made for.
//! Proves `B` of `nn::DecoderOnly::try_cache`.
use typed_transformer::{nn::Cache, prelude::*};

dims! { Letters = 28; MaxLen = 16; Batch; OtherBatch; }

trait Writer: SingleStack<VocabSize = Letters, MaxSeqLen = MaxLen> {}

fn begin<M: Writer>(model: &DecoderOnly<M, f32, Cpu>, batch: OtherBatch) {
    let _cache: Result<Cache<Batch, MaxLen, M, f32, Cpu>, OpError> = model.try_cache(batch);
}

fn main() {}
