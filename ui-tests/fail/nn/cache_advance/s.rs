//! A cache advances by the positions that its mask is for.
//! Covers `S` of `nn::Cache::advance`.
//! Right with `Next` for `Prompt` in line 15.
use typed_transformer::{
    nn::{Cache, CacheCapacity},
    prelude::*,
};

dims! { MaxLen = 16; NumLayers = 2; EmbedDim = 8; Prompt; Next; Batch; }

fn begin<A: Arch>(
    cache: &mut Cache<Batch, MaxLen, NumLayers, A, f32, Cpu>,
    parameter: &Tensor<(EmbedDim,), f32, Cpu>,
    batch: Batch,
    next: Prompt,
) -> Result<(usize, AttentionMask<Batch, Next, CacheCapacity<MaxLen>>), OpError> {
    cache.advance(parameter, (batch, next))
}

fn main() {}
