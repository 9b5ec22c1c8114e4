//! An embedder has the width of its encoder.
//! Covers `EmbedDim` of `nn::Embedder`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; HiddenDim = 32; NumLayers = 1; }

fn replace<Small: HasPositionsFor<EmbedDim> + HasPositionsFor<HiddenDim>, Large: HasPositionsFor<EmbedDim>>(
    encoder: &mut EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, Small, f32, Cpu>,
    embedder: Embedder<Letters, MaxLen, HiddenDim, Small, f32, Cpu>,
) {
    encoder.embedder = embedder;
}

fn main() {}
