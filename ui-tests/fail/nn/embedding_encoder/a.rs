//! An embedding encoder belongs to one architecture.
//! Covers `A` of `nn::EmbeddingEncoder`.
//! Right with `Small` for `Large` in line 12.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; HiddenDim = 32; NumLayers = 1; }

type Encoding<A> = EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, A, f32, Cpu>;

fn replace<Small: HasPositionsFor<EmbedDim> + HasPositionsFor<HiddenDim>, Large: HasPositionsFor<EmbedDim>>(
    encoder: &mut Encoding<Small>,
    other: EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, Large, f32, Cpu>,
) {
    *encoder = other;
}

fn main() {}
