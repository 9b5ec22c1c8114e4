//! A decoder cache has the maximum length of its decoder.
//! Covers `MaxLen` of `nn::DecoderCache`.
//! Right with `MaxLen` for `Short` in line 14.
use typed_transformer::{nn::{DecoderCache, HasPositionsFor}, prelude::*};

dims! {
    Sounds = 44; MaxLen = 16; Short = 4; SrcLen = 5; TgtLen = 7; SrcDim = 24; TgtDim = 20;
    NumLayers = 1; Batch;
}

fn extend<Small: HasPositionsFor<TgtDim>, Large: Arch>(
    decoder: &EmbeddingDecoder<Sounds, MaxLen, TgtDim, SrcDim, NumLayers, Small, f32, Cpu>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
    cache: &mut DecoderCache<Batch, SrcLen, Short, Small, f32, Cpu>,
) {
    let _decoded = decoder.try_forward_cached(target, cache);
}

fn main() {}
