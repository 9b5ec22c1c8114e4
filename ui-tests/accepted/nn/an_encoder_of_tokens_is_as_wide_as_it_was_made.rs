//! An encoder of tokens is as wide as it was made.
//! Proves `EmbedDim` of `nn::EmbeddingEncoder`.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; HiddenDim = 32; NumLayers = 1; }

type Encoding<A> = EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, A, f32, Cpu>;

fn replace<Small: HasPositionsFor<EmbedDim> + HasPositionsFor<HiddenDim>, Large: HasPositionsFor<EmbedDim>>(
    encoder: &mut Encoding<Small>,
    other: EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, Small, f32, Cpu>,
) {
    *encoder = other;
}

fn main() {}
