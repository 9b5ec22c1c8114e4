//! A cache has keys of the size of its attention.
//! Covers `QKDim` of `nn::CachedHeads`.
//! Right with `KeyDim` for `OtherKeyDim` in line 8.
use typed_transformer::{nn::{CacheCapacity, CachedHeads, KeyValueCache}, prelude::*};

dims! { NumHeads = 2; OtherHeads = 2; KeyDim = 3; OtherKeyDim = 3; ValueDim = 5; OtherValueDim = 5; MaxLen = 9; Batch; }

trait Own: CachedHeads<NumHeads = NumHeads, QKDim = OtherKeyDim, VODim = ValueDim> {}

fn read<H: Own>(cache: &KeyValueCache<Batch, MaxLen, H, f32, Cpu>) {
    let _part: Tensor<(Batch, CacheCapacity<MaxLen>, Product<NumHeads, KeyDim>), f32, Cpu> = cache.keys().clone();
}

fn main() {}
