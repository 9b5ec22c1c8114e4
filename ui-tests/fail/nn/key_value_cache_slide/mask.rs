//! A cache slides along with the window of a causal mask.
//! Covers `Mask` of `nn::KeyValueCache::slide`.
//! Right with `CausalMask` for `NoMask` in line 9.
use typed_transformer::{nn::KeyValueCache, prelude::*};

dims! { MaxLen = 16; Batch; }

fn slide<A: Arch>(cache: &mut KeyValueCache<Batch, MaxLen, A, f32, Cpu>) -> Result<(), OpError> {
    cache.slide::<NoMask>()
}

fn main() {}
