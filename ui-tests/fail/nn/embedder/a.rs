//! An embedder belongs to one architecture.
//! Covers `A` of `nn::Embedder`.
//! Right with `Small` for `Large` in line 10.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; HiddenDim = 32; NumLayers = 1; }

fn replace<Small: HasPositionsFor<EmbedDim> + HasPositionsFor<HiddenDim>, Large: HasPositionsFor<EmbedDim>>(
    encoder: &mut EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, Small, f32, Cpu>,
    embedder: Embedder<Letters, MaxLen, EmbedDim, Large, f32, Cpu>,
) {
    encoder.embedder = embedder;
}

fn main() {}
