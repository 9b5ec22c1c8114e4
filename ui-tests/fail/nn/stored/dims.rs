//! A stored weight has its dimensions.
//! Covers `Dims` of `nn::Stored`.
//! Right with `EmbedDim` for `KeyDim` in line 8.
use typed_transformer::{nn::{Q8, Stored}, prelude::*};

dims! { EmbedDim = 8; KeyDim = 8; HiddenDim = 32; }

fn replace(weight: &mut Stored<(HiddenDim, EmbedDim), Cpu, Q8>, other: Stored<(HiddenDim, KeyDim), Cpu, Q8>) {
    *weight = other;
}

fn main() {}
