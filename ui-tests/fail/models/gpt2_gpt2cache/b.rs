//! A cache belongs to one batch.
//! Covers `B` of `models::gpt2::Gpt2Cache`.
//! Right with `Batch` for `OtherBatch` in line 8.
use typed_transformer::{models::gpt2::{Gpt2Cache, Gpt2Config}, prelude::*};

dims! { Batch; OtherBatch; }

fn keep<Config: Gpt2Config>(cache: Gpt2Cache<OtherBatch, Config, f32, Cpu>) {
    let _cache: Gpt2Cache<Batch, Config, f32, Cpu> = cache;
}

fn main() {}
