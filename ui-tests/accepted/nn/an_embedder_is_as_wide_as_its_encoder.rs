//! An embedder is as wide as its encoder.
//! Proves `EmbedDim` of `nn::Embedder`.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; HiddenDim = 32; NumLayers = 1; }

fn replace<Small: HasPositionsFor<EmbedDim> + HasPositionsFor<HiddenDim>, Large: HasPositionsFor<EmbedDim>>(
    encoder: &mut EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, Small, f32, Cpu>,
    embedder: Embedder<Letters, MaxLen, EmbedDim, Small, f32, Cpu>,
) {
    encoder.embedder = embedder;
}

fn main() {}
