//! A layer in bfloat16 does not take the place of one in 8 bits.
//! Covers `P` of `nn::Linear`.
//! Right with `Q8` for `Bf16` in line 9.
use typed_transformer::{nn::{Bf16, Linear, Q8}, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }
type Map<P> = Linear<EmbedDim, HiddenDim, f32, Cpu, P>;

fn replace(map: &mut Map<Q8>, other: Map<Bf16>) {
    *map = other;
}

fn main() {}
