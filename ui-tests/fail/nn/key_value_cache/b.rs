//! A key-value cache belongs to one batch.
//! Covers `B` of `nn::KeyValueCache`.
//! Right with `Batch` for `OtherBatch` in line 8.
use typed_transformer::{nn::{CacheCapacity, KeyValueCache}, prelude::*};

dims! { MaxLen = 16; SrcLen = 5; Batch; OtherBatch; }

fn mask<A: Arch>(cache: &KeyValueCache<OtherBatch, MaxLen, A, f32, Cpu>) {
    let _mask: AttentionMask<Batch, SrcLen, CacheCapacity<MaxLen>> = cache.mask(SrcLen);
}

fn main() {}
