//! A cache belongs to one batch.
//! Covers `B` of `models::llama::LlamaCache`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{models::llama::{LlamaCache, LlamaConfig}, prelude::*};

dims! { MaxSeqLen = 16; NumKeyValueHeads = 4; HeadDim = 4; Batch; OtherBatch; }

trait Small: LlamaConfig<MaxSeqLen = MaxSeqLen, NumKeyValueHeads = NumKeyValueHeads, HeadDim = HeadDim> {}

fn keep<Config: Small>(cache: LlamaCache<OtherBatch, Config, f32, Cpu>) {
    let _cache: LlamaCache<Batch, Config, f32, Cpu> = cache;
}

fn main() {}
