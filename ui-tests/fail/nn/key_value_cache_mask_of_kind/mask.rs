//! The mask of a key-value cache is causal.
//! Covers `Mask` of `nn::KeyValueCache::mask_of_kind`.
//! Right with `CausalMask` for `NoMask` in line 10.
//! Mutants cover `S` by `SrcLen` of `nn::KeyValueCache::mask_of_kind`.
use typed_transformer::{nn::{CacheCapacity, KeyValueCache}, prelude::*};

dims! { MaxLen = 16; SrcLen = 5; Batch; }

fn mask<A: Arch>(cache: &KeyValueCache<Batch, MaxLen, A, f32, Cpu>) {
    let _mask: AttentionMask<Batch, SrcLen, CacheCapacity<MaxLen>> = cache.mask_of_kind::<NoMask, _>(SrcLen);
}

fn main() {}
