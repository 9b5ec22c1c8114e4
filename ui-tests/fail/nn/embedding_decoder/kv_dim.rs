//! An embedding decoder reads a source of the width that it was built for.
//! Covers `KVDim` of `nn::EmbeddingDecoder`.
//! Right with `SrcDim` for `EmbedDim` in line 11.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! {
    Sounds = 44; MaxLen = 16; SrcLen = 5; TgtLen = 7; EmbedDim = 8; SrcDim = 24; TgtDim = 20;
    NumLayers = 1; Batch;
}

type Reader<A> = EmbeddingDecoder<Sounds, MaxLen, TgtDim, EmbedDim, NumLayers, A, f32, Cpu>;

fn decode<A: HasPositionsFor<TgtDim>>(
    decoder: &Reader<A>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
    source: Tensor<(Batch, SrcLen, SrcDim), f32, Cpu>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Tensor<(Batch, TgtLen, TgtDim), f32, Cpu> {
    decoder.forward(target, source, source_padding)
}

fn main() {}
