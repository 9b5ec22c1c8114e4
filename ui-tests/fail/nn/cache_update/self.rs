//! An update of a cache is a function of the new keys and values, not the cache itself.
//! Covers `Self` of `nn::CacheUpdate`.
//! Right with `update` for `cache` in line 22.
//! Mutants cover `B` by `Batch`, `Q` by `Next`, `K` by `Whole`, `A` by `NumHeads` of `nn::CacheUpdate`.
use typed_transformer::{nn::*, prelude::*};

dims! { MaxLen = 16; Next; Whole; Other; NumHeads = 4; OtherHeads = 4; HeadDim = 6; Batch; }

type Head = HeadDim;

fn attend<B: Dim, Q: Dim, K: Dim>(
    _: &AttentionMask<B, Q, K>,
    _: impl CacheUpdate<B, Q, K, Heads<NumHeads, Head, Head>, f32, Cpu, NoneTape>,
) {
}

fn decode<A: Arch>(
    mask: &AttentionMask<Batch, Next, Whole>,
    cache: &mut KeyValueCache<Const<1>, MaxLen, A, f32, Cpu>,
    update: impl CacheUpdate<Batch, Next, Whole, Heads<NumHeads, Head, Head>, f32, Cpu, NoneTape>,
) {
    attend(mask, cache);
}

fn main() {}
