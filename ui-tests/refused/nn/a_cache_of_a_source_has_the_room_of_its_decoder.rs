//! A cache of a source has the room of its decoder.
//! Proves `MaxLen` of `nn::CrossCache`.
use typed_transformer::{nn::{CrossCache, Embeds}, prelude::*};

dims! {
    Sounds = 44; MaxLen = 16; Short = 4; SrcLen = 5; TgtLen = 7; SrcDim = 24; TgtDim = 20;
    NumLayers = 1; Batch;
}

fn extend<Small: Embeds<TgtDim>, Large: Arch>(
    decoder: &EmbeddingDecoder<Sounds, MaxLen, TgtDim, SrcDim, NumLayers, Small, f32, Cpu>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
    cache: &mut CrossCache<Batch, SrcLen, Short, Small, f32, Cpu>,
) {
    let _decoded = decoder.try_extend(target, cache);
}

fn main() {}
