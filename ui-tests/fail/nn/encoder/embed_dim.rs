//! An encoder has the width of its embedder.
//! Covers `EmbedDim` of `nn::Encoder`.
//! Right with `EmbedDim` for `KeyDim` in line 10.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; KeyDim = 18; NumLayers = 1; }

fn replace<Small: HasPositionsFor<EmbedDim>, Large: HasPositionsFor<EmbedDim>>(
    model: &mut EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, Small, f32, Cpu>,
    encoder: Encoder<KeyDim, NumLayers, Small, f32, Cpu>,
) {
    model.encoder = encoder;
}

fn main() {}
