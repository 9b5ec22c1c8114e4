//! A decoder has the width of its embedder.
//! Covers `QDim` of `nn::Decoder`.
//! Right with `TgtDim` for `KeyDim` in line 10.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Sounds = 44; MaxLen = 16; SrcDim = 24; TgtDim = 20; KeyDim = 18; NumLayers = 1; }

fn replace<Small: HasPositionsFor<TgtDim>, Large: HasPositionsFor<TgtDim>>(
    model: &mut EmbeddingDecoder<Sounds, MaxLen, TgtDim, SrcDim, NumLayers, Small, f32, Cpu>,
    decoder: Decoder<KeyDim, SrcDim, NumLayers, Small, f32, Cpu>,
) {
    model.decoder = decoder;
}

fn main() {}
