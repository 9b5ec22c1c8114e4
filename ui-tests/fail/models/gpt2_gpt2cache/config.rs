//! A cache holds the heads of its model.
//! Covers `Config` of `models::gpt2::Gpt2Cache`.
//! Right with `One` for the second `Other` in line 11.
use typed_transformer::{models::gpt2::{Gpt2Cache, Gpt2Config}, prelude::*};

dims! { MaxLen = 16; NumHeads = 4; OtherHeads = 4; EmbedDim = 16; HeadDim = 4; Batch; }

trait Small: Gpt2Config<MaxSeqLen = MaxLen, EmbedDim = EmbedDim, NumHeads = NumHeads> {}
trait Large: Gpt2Config<MaxSeqLen = MaxLen, EmbedDim = EmbedDim, NumHeads = OtherHeads> {}

fn keep<One: Small, Other: Large>(cache: Gpt2Cache<Batch, Other, f32, Cpu>) {
    let _cache: Gpt2Cache<Batch, One, f32, Cpu> = cache;
}

fn main() {}
