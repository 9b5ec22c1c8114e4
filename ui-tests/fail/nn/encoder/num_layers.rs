//! An encoder has a fixed number of layers.
//! Covers `NumLayers` of `nn::Encoder`.
//! Right with `NumLayers` for `OtherLayers` in line 10.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; NumLayers = 1; OtherLayers = 6; }

fn replace<Small: HasPositionsFor<EmbedDim>, Large: HasPositionsFor<EmbedDim>>(
    model: &mut EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, Small, f32, Cpu>,
    encoder: Encoder<EmbedDim, OtherLayers, Small, f32, Cpu>,
) {
    model.encoder = encoder;
}

fn main() {}
