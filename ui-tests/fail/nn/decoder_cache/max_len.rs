//! A decoder cache has the maximum length of its decoder.
//! Covers `MaxLen` of `nn::DecoderCache`.
//! Right with `MaxLen` for `Few` in line 14.
use typed_transformer::{nn::{DecoderCache, HasPositionsFor}, prelude::*};

dims! {
    Sounds = 44; MaxLen = 16; Few = 4; Src = 5; TgtLen = 7; SrcDim = 24; TgtDim = 20;
    NumLayers = 1; Batch;
}

fn extend<Toy: HasPositionsFor<TgtDim>, Large: Arch>(
    decoder: &EmbeddingDecoder<Sounds, MaxLen, TgtDim, SrcDim, NumLayers, Toy, f32, Cpu>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
    cache: &mut DecoderCache<Batch, Src, Few, Toy, f32, Cpu>,
) {
    let _decoded = decoder.try_forward_cached(target, cache);
}

fn main() {}
