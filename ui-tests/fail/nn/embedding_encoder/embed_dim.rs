//! An embedding encoder has one embedding width.
//! Covers `EmbedDim` of `nn::EmbeddingEncoder`.
//! Right with `EmbedDim` for `HiddenDim` in line 12.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; HiddenDim = 32; NumLayers = 1; }

type Encoding<A> = EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, A, f32, Cpu>;

fn replace<Small: HasPositionsFor<EmbedDim> + HasPositionsFor<HiddenDim>, Large: HasPositionsFor<EmbedDim>>(
    encoder: &mut Encoding<Small>,
    other: EmbeddingEncoder<Letters, MaxLen, HiddenDim, NumLayers, Small, f32, Cpu>,
) {
    *encoder = other;
}

fn main() {}
