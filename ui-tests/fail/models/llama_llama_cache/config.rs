//! A cache holds the heads of its model.
//! Covers `Config` of `models::llama::LlamaCache`.
//! Right with `One` for the second `Other` in line 11.
use typed_transformer::{models::llama::{LlamaCache, LlamaConfig}, prelude::*};

dims! { MaxLen = 16; NumHeads = 4; OtherHeads = 4; EmbedDim = 16; HeadDim = 4; Batch; }

trait Small: LlamaConfig<MaxSeqLen = MaxLen, HeadDim = HeadDim, NumKeyValueHeads = NumHeads> {}
trait Large: LlamaConfig<MaxSeqLen = MaxLen, HeadDim = HeadDim, NumKeyValueHeads = OtherHeads> {}

fn keep<One: Small, Other: Large>(cache: LlamaCache<Batch, Other, f32, Cpu>) {
    let _cache: LlamaCache<Batch, One, f32, Cpu> = cache;
}

fn main() {}
