//! A cache belongs to one batch.
//! Covers `B` of `models::llama::LlamaCache`.
//! Right with `Batch` for `OtherBatch` in line 8.
use typed_transformer::{models::llama::{LlamaCache, LlamaConfig}, prelude::*};

dims! { Batch; OtherBatch; }

fn keep<Config: LlamaConfig>(cache: LlamaCache<OtherBatch, Config, f32, Cpu>) {
    let _cache: LlamaCache<Batch, Config, f32, Cpu> = cache;
}

fn main() {}
