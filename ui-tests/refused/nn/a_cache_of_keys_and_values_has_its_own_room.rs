//! A cache of keys and values has its own room.
//! Proves `MaxLen` of `nn::KeyValueCache`.
use typed_transformer::{nn::KeyValueCache, prelude::*};

dims! { MaxLen = 16; Short = 4; SrcLen = 5; Batch; }

fn mask<A: Arch>(cache: &KeyValueCache<Batch, Short, A, f32, Cpu>) {
    let _mask: AttentionMask<Batch, SrcLen, MaxLen> = cache.mask(SrcLen);
}

fn main() {}
