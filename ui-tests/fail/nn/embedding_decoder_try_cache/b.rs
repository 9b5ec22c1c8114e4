//! The cache of an embedding decoder is made with padding of its own batch.
//! Covers `B` of `nn::EmbeddingDecoder::try_cache`.
//! Right with `Batch` for `OtherBatch` in line 14.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! {
    Sounds = 44; MaxLen = 16; SrcLen = 5; SrcDim = 24; TgtDim = 20; NumLayers = 1; Batch;
    OtherBatch;
}

fn begin<A: HasPositionsFor<TgtDim>>(
    decoder: &EmbeddingDecoder<Sounds, MaxLen, TgtDim, SrcDim, NumLayers, A, f32, Cpu>,
    source: Tensor<(Batch, SrcLen, SrcDim), f32, Cpu>,
    padding: &PaddingMask<OtherBatch, SrcLen>,
) {
    let _cache = decoder.try_cache(source, padding);
}

fn main() {}
