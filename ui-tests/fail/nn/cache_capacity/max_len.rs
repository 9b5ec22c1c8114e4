//! The keys of a cache have room for the positions of this cache, not of another one.
//! Covers `MaxLen` of `nn::CacheCapacity`.
//! Right with `MaxLen` for `Short` in line 11.
use typed_transformer::{nn::{CacheCapacity, KeyValueCache}, prelude::*};

dims! { MaxLen = 16; Short = 4; NumHeads = 4; HeadDim = 10; Batch; }

trait Small: Arch<NumHeads = NumHeads, QKDim = HeadDim> {}

fn keys<A: Small>(cache: &KeyValueCache<Batch, MaxLen, A, f32, Cpu>) {
    let _keys: &Tensor<(Batch, CacheCapacity<Short>, Product<NumHeads, HeadDim>), f32, Cpu> = cache.keys();
}

fn main() {}
