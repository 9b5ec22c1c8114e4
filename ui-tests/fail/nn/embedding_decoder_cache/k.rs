//! The cache of an embedding decoder is made with the padding of its source.
//! Covers `K` of `nn::EmbeddingDecoder::cache`.
//! Right with `SrcLen` for `TgtLen` in line 15.
//! Mutants cover `B` by `Batch` of `nn::EmbeddingDecoder::cache`.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! {
    Sounds = 44; MaxLen = 16; SrcLen = 5; TgtLen = 7; SrcDim = 24; TgtDim = 20; NumLayers = 1;
    Batch;
}

fn begin<A: HasPositionsFor<TgtDim>>(
    decoder: &EmbeddingDecoder<Sounds, MaxLen, TgtDim, SrcDim, NumLayers, A, f32, Cpu>,
    source: Tensor<(Batch, SrcLen, SrcDim), f32, Cpu>,
    padding: &PaddingMask<Batch, TgtLen>,
) {
    let _cache = decoder.cache(source, padding);
}

fn main() {}
