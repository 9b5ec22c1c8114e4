//! A stack of layers keeps their number.
//! Covers `NumLayers` of `nn::Layers`.
//! Right with `Deep` for `Shallow` in line 11.
//! Mutants cover `Layer` by `EmbedDim` of `nn::Layers`.
use typed_transformer::{nn::{Layers, Linear}, prelude::*};

dims! { Shallow = 6; Deep = 12; EmbedDim = 8; }

fn replace(
    stack: &mut Layers<Deep, Linear<EmbedDim, EmbedDim>>,
    other: Layers<Shallow, Linear<EmbedDim, EmbedDim>>,
) {
    *stack = other;
}

fn main() {}
