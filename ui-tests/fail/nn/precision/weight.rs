//! A weight in bfloat16 does not take the place of one in 8 bits.
//! Covers `Weight` of `nn::Precision`.
//! Right with `Q8` for `Bf16` in line 9.
use typed_transformer::{nn::{Bf16, Q8, Weight}, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }

type Precise<P> = Weight<(HiddenDim, EmbedDim), f32, Cpu, P>;

fn replace(weight: &mut Precise<Q8>, other: Precise<Bf16>) {
    *weight = other;
}

fn main() {}
