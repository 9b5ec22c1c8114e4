//! A cache belongs to one batch.
//! Covers `B` of `models::gpt2::Gpt2Cache`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{models::gpt2::{Gpt2Cache, Gpt2Config}, prelude::*};

dims! { MaxSeqLen = 16; EmbedDim = 16; NumHeads = 4; Batch; OtherBatch; }

trait Small: Gpt2Config<MaxSeqLen = MaxSeqLen, EmbedDim = EmbedDim, NumHeads = NumHeads> {}

fn keep<Config: Small>(cache: Gpt2Cache<OtherBatch, Config, f32, Cpu>) {
    let _cache: Gpt2Cache<Batch, Config, f32, Cpu> = cache;
}

fn main() {}
