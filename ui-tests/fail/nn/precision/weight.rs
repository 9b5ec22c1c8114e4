//! A weight in bfloat16 does not take the place of one in 8 bits.
//! Covers `Weight` of `nn::Precision`.
//! Right with `Q8` for `Bf16` in line 10.
use typed_transformer::{nn::{Bf16, Precision, Q8}, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }

type Precise<P> = <P as Precision>::Weight<(HiddenDim, EmbedDim), f32, Cpu>;

fn replace(weight: &mut Precise<Q8>, other: Precise<Bf16>) {
    *weight = other;
}

fn main() {}
