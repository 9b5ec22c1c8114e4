//! An embedding decoder has one embedding width.
//! Covers `QDim` of `nn::EmbeddingDecoder`.
//! Right with `TgtDim` for `EmbedDim` in line 12.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Sounds = 44; MaxLen = 16; EmbedDim = 8; SrcDim = 24; TgtDim = 20; NumLayers = 1; }

type Decoding<A> = EmbeddingDecoder<Sounds, MaxLen, TgtDim, SrcDim, NumLayers, A, f32, Cpu>;

fn replace<Small: HasPositionsFor<TgtDim> + HasPositionsFor<EmbedDim>, Large: HasPositionsFor<TgtDim>>(
    decoder: &mut Decoding<Small>,
    other: EmbeddingDecoder<Sounds, MaxLen, EmbedDim, SrcDim, NumLayers, Small, f32, Cpu>,
) {
    *decoder = other;
}

fn main() {}
