//! A cache has values of the size of its attention.
//! Covers `VODim` of `nn::CachedHeads`.
//! Right with `ValueDim` for `OtherValueDim` in line 8.
use typed_transformer::{nn::{CacheCapacity, CachedHeads, KeyValueCache}, prelude::*};

dims! { NumHeads = 2; OtherHeads = 2; KeyDim = 3; OtherKeyDim = 3; ValueDim = 5; OtherValueDim = 5; MaxLen = 9; Batch; }

trait Own: CachedHeads<NumHeads = NumHeads, QKDim = KeyDim, VODim = OtherValueDim> {}

fn read<H: Own>(cache: &KeyValueCache<Batch, MaxLen, H, f32, Cpu>) {
    let _part: Tensor<(Batch, CacheCapacity<MaxLen>, Product<NumHeads, ValueDim>), f32, Cpu> = cache.values().clone();
}

fn main() {}
