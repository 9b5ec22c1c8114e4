//! A layer of one width does not run on another.
//! Covers `EmbedDim` of `nn::GatedFeedForward`.
//! Right with `EmbedDim` for `OtherDim` in line 8.
use typed_transformer::{doctest::Model, nn::GatedFeedForward, prelude::*};

dims! { EmbedDim = 8; OtherDim = 8; }

fn layer(layer: &GatedFeedForward<OtherDim, Model, f32, Cpu>) {
    let _layer: &GatedFeedForward<EmbedDim, Model, f32, Cpu> = layer;
}

fn main() {}
