//! An embedding decoder has a fixed number of layers.
//! Covers `NumLayers` of `nn::EmbeddingDecoder`.
//! Right with `NumLayers` for `OtherLayers` in line 15.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! {
    Sounds = 44; MaxLen = 16; EmbedDim = 8; SrcDim = 24; TgtDim = 20; NumLayers = 1;
    OtherLayers = 6;
}

type Decoding<A> = EmbeddingDecoder<Sounds, MaxLen, TgtDim, SrcDim, NumLayers, A, f32, Cpu>;

fn replace<Small: HasPositionsFor<TgtDim> + HasPositionsFor<EmbedDim>, Large: HasPositionsFor<TgtDim>>(
    decoder: &mut Decoding<Small>,
    other: EmbeddingDecoder<Sounds, MaxLen, TgtDim, SrcDim, OtherLayers, Small, f32, Cpu>,
) {
    *decoder = other;
}

fn main() {}
