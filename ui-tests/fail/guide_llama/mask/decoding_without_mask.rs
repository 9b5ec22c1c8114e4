//! Only a causal attention can decode with a cache.
//! Right with `CausalMask` for `NoMask` in line 8.
use typed_transformer::{nn::GroupedKeyValueCache, prelude::*};

dims! { EmbedDim = 64; MaxLen = 9; }

fn next<A: GroupedQuery, B: Dim, S: Dim>(
    attention: &GroupedQueryAttention<EmbedDim, NoMask, A, f32, Cpu>,
    x: Tensor<(B, S, EmbedDim), f32, Cpu>,
    cache: &mut GroupedKeyValueCache<B, MaxLen, A, f32, Cpu>,
) {
    let _next = attention.forward_cached(x, cache);
}

fn main() {}
