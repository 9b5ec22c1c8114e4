//! An encoder is as wide as its embedder.
//! Proves `EmbedDim` of `nn::Encoder`.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; KeyDim = 18; NumLayers = 1; }

fn replace<Small: HasPositionsFor<EmbedDim>, Large: HasPositionsFor<EmbedDim>>(
    model: &mut EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, Small, f32, Cpu>,
    encoder: Encoder<KeyDim, NumLayers, Small, f32, Cpu>,
) {
    model.encoder = encoder;
}

fn main() {}
