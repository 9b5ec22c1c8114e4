//! An embedding encoder has a fixed number of layers.
//! Covers `NumLayers` of `nn::EmbeddingEncoder`.
//! Right with `NumLayers` for `OtherLayers` in line 12.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; HiddenDim = 32; NumLayers = 1; OtherLayers = 6; }

type Encoding<A> = EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, A, f32, Cpu>;

fn replace<Small: HasPositionsFor<EmbedDim> + HasPositionsFor<HiddenDim>, Large: HasPositionsFor<EmbedDim>>(
    encoder: &mut Encoding<Small>,
    other: EmbeddingEncoder<Letters, MaxLen, EmbedDim, OtherLayers, Small, f32, Cpu>,
) {
    *encoder = other;
}

fn main() {}
