//! A decoder has a fixed number of layers.
//! Covers `NumLayers` of `nn::Decoder`.
//! Right with `NumLayers` for `OtherLayers` in line 10.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Sounds = 44; MaxLen = 16; SrcDim = 24; TgtDim = 20; NumLayers = 1; OtherLayers = 6; }

fn replace<Small: HasPositionsFor<TgtDim>, Large: HasPositionsFor<TgtDim>>(
    model: &mut EmbeddingDecoder<Sounds, MaxLen, TgtDim, SrcDim, NumLayers, Small, f32, Cpu>,
    decoder: Decoder<TgtDim, SrcDim, OtherLayers, Small, f32, Cpu>,
) {
    model.decoder = decoder;
}

fn main() {}
