//! A decoder belongs to one architecture.
//! Covers `A` of `nn::Decoder`.
//! Right with `Small` for `Large` in line 10.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Sounds = 44; MaxLen = 16; SrcDim = 24; TgtDim = 20; NumLayers = 1; }

fn replace<Small: HasPositionsFor<TgtDim>, Large: HasPositionsFor<TgtDim>>(
    model: &mut EmbeddingDecoder<Sounds, MaxLen, TgtDim, SrcDim, NumLayers, Small, f32, Cpu>,
    decoder: Decoder<TgtDim, SrcDim, NumLayers, Large, f32, Cpu>,
) {
    model.decoder = decoder;
}

fn main() {}
