//! A decoder cache belongs to one batch.
//! Covers `B` of `nn::DecoderCache`.
//! Right with `Batch` for `Other` in line 14.
use typed_transformer::{nn::{DecoderCache, HasPositionsFor}, prelude::*};

dims! {
    Sounds = 44; MaxLen = 16; SrcLen = 5; TgtLen = 7; SrcDim = 24; TgtDim = 20; NumLayers = 1;
    Batch; Other;
}

fn extend<Small: HasPositionsFor<TgtDim>, Large: Arch>(
    decoder: &EmbeddingDecoder<Sounds, MaxLen, TgtDim, SrcDim, NumLayers, Small, f32, Cpu>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
    cache: &mut DecoderCache<Other, SrcLen, MaxLen, Small, f32, Cpu>,
) {
    let _decoded = decoder.try_forward_cached(target, cache);
}

fn main() {}
