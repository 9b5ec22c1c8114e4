//! An encoder belongs to one architecture.
//! Covers `A` of `nn::Encoder`.
//! Right with `Small` for `Large` in line 10.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; NumLayers = 1; }

fn replace<Small: HasPositionsFor<EmbedDim>, Large: HasPositionsFor<EmbedDim>>(
    model: &mut EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, Small, f32, Cpu>,
    encoder: Encoder<EmbedDim, NumLayers, Large, f32, Cpu>,
) {
    model.encoder = encoder;
}

fn main() {}
