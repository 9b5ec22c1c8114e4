//! A copy of a model has the precision that was asked for.
//! Covers `With` of `nn::WithPrecision`.
//! Right with `Q8` for `Bf16` in line 10.
use typed_transformer::{nn::{Bf16, Linear, Q8, WithPrecision}, weights::LoadError, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }
type Map<P> = Linear<EmbedDim, HiddenDim, f32, Cpu, P>;

fn small(map: &Linear<EmbedDim, HiddenDim, f32, Cpu>) -> Result<Map<Q8>, LoadError> {
    map.with_precision::<Bf16>()
}

fn main() {}
