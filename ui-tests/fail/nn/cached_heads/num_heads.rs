//! A cache has the heads of its attention.
//! Covers `NumHeads` of `nn::CachedHeads`.
//! Right with `NumHeads` for `OtherHeads` in line 9.
//! Mutants cover `QKDim` by `KeyDim` of `nn::CachedHeads`.
use typed_transformer::{nn::{CacheCapacity, CachedHeads, KeyValueCache}, prelude::*};

dims! { NumHeads = 2; OtherHeads = 2; KeyDim = 3; OtherKeyDim = 3; ValueDim = 5; OtherValueDim = 5; MaxLen = 9; Batch; }

trait Own: CachedHeads<NumHeads = OtherHeads, QKDim = KeyDim, VODim = ValueDim> {}

fn read<H: Own>(cache: &KeyValueCache<Batch, MaxLen, H, f32, Cpu>) {
    let _part: Tensor<(Batch, CacheCapacity<MaxLen>, Product<NumHeads, KeyDim>), f32, Cpu> = cache.keys().clone();
}

fn main() {}
