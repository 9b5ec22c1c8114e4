//! A cache of keys has the heads of the keys, not those of the queries.
//! Right with `NumKeyValueHeads` for `NumHeads` in line 9.
use typed_transformer::{models::llama::{Llama, LlamaConfig}, nn::{Cache, CacheOf, Heads}, prelude::*};

dims! { MaxLen = 16; NumLayers = 2; NumHeads = 6; NumKeyValueHeads = 2; HeadDim = 4; Batch; }

trait Small: LlamaConfig<MaxSeqLen = MaxLen, NumLayers = NumLayers, NumKeyValueHeads = NumKeyValueHeads, HeadDim = HeadDim> {}

fn keep<Config: Small>(cache: Cache<Batch, MaxLen, NumLayers, Heads<NumHeads, HeadDim, HeadDim, Config>, f32, Cpu>) {
    let _cache: CacheOf<Llama<Config>, Batch> = cache;
}

fn main() {}
