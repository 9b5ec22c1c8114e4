//! A stored weight has its dimensions.
//! Covers `Dims` of `nn::Packed`.
//! Right with `EmbedDim` for `KeyDim` in line 9.
//! Mutants cover `Dims` by `HiddenDim` of `nn::Weight`.
use typed_transformer::{nn::{Packed, Q8, Weight}, prelude::*};

dims! { EmbedDim = 8; KeyDim = 8; HiddenDim = 32; OtherDim = 32; }

fn replace(weight: &mut Packed<(HiddenDim, EmbedDim), Cpu, Q8>, other: Weight<(HiddenDim, KeyDim), f32, Cpu, Q8>) {
    *weight = other;
}

fn main() {}
