//! A cache has keys of the size of its attention.
//! Covers `QKDim` of `nn::Heads`.
//! Right with `KeyDim` for `OtherKeyDim` in line 10.
use typed_transformer::{nn::{Heads, KeyValueCache}, prelude::*};

dims! { NumHeads = 2; OtherHeads = 2; KeyDim = 3; OtherKeyDim = 3; ValueDim = 5; OtherValueDim = 5; MaxLen = 9; Batch; }

type Own = KeyValueCache<Batch, MaxLen, Heads<NumHeads, KeyDim, ValueDim>, f32, Cpu>;

fn keep(cache: &KeyValueCache<Batch, MaxLen, Heads<NumHeads, OtherKeyDim, ValueDim>, f32, Cpu>) {
    let _cache: &Own = cache;
}

fn main() {}
