//! A key-value cache has one maximum length.
//! Covers `MaxLen` of `nn::KeyValueCache`.
//! Right with `MaxLen` for `Short` in line 8.
use typed_transformer::{nn::{CacheCapacity, KeyValueCache}, prelude::*};

dims! { MaxLen = 16; Short = 4; SrcLen = 5; Batch; }

fn mask<A: Arch>(cache: &KeyValueCache<Batch, Short, A, f32, Cpu>) {
    let _mask: AttentionMask<Batch, SrcLen, CacheCapacity<MaxLen>> = cache.mask(SrcLen);
}

fn main() {}
