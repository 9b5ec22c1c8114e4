//! The mask of a cache has a row for each new query.
//! Proves `S` of `nn::KeyValueCache::mask`.
use typed_transformer::{nn::KeyValueCache, prelude::*};

dims! { MaxLen = 16; SrcLen = 5; TgtLen = 7; Batch; }

fn mask<A: Arch>(cache: &KeyValueCache<Batch, MaxLen, A, f32, Cpu>) {
    let _mask: AttentionMask<Batch, SrcLen, MaxLen> = cache.mask(TgtLen);
}

fn main() {}
