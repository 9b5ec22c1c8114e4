//! A norm has the width of its vectors.
//! Covers `EmbedDim` of `nn::LayerNorm`.
//! Right with `EmbedDim` for `KeyDim` in line 8.
use typed_transformer::{nn::LayerNorm, prelude::*};

dims! { EmbedDim = 8; KeyDim = 8; }

fn replace(norm: &mut LayerNorm<EmbedDim, f32, Cpu>, other: LayerNorm<KeyDim, f32, Cpu>) {
    *norm = other;
}

fn main() {}
