//! A decoder of tokens begins with the padding of its batch.
//! Proves `B` of `nn::EmbeddingDecoder::try_cache`.
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
