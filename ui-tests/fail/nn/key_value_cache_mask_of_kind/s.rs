//! The mask of a key-value cache has one row per new query.
//! Covers `S` of `nn::KeyValueCache::mask_of_kind`.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::{nn::{CacheCapacity, KeyValueCache}, prelude::*};

dims! { MaxLen = 16; SrcLen = 5; TgtLen = 7; Batch; }

fn mask<A: Arch>(cache: &KeyValueCache<Batch, MaxLen, A, f32, Cpu>) {
    let _mask: AttentionMask<Batch, SrcLen, CacheCapacity<MaxLen>> = cache.mask_of_kind::<CausalMask, _>(TgtLen);
}

fn main() {}
