//! An embedding decoder has one maximum target length.
//! Covers `MaxSeqLen` of `nn::EmbeddingDecoder`.
//! Right with `MaxLen` for `Short` in line 11.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! {
    Sounds = 44; MaxLen = 16; Short = 4; SrcLen = 5; TgtLen = 7; SrcDim = 24; TgtDim = 20;
    NumLayers = 1; Batch;
}

type Reader<A> = EmbeddingDecoder<Sounds, Short, TgtDim, SrcDim, NumLayers, A, f32, Cpu>;

fn decode<A: HasPositionsFor<TgtDim>>(
    decoder: &Reader<A>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
    source: Tensor<(Batch, SrcLen, SrcDim), f32, Cpu>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Tensor<(Batch, TgtLen, TgtDim), f32, Cpu> {
    decoder.forward(target, source, source_padding)
}

fn main() {}
