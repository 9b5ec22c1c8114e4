//! An embedding decoder reads tokens of its own vocabulary.
//! Covers `VocabSize` of `nn::EmbeddingDecoder`.
//! Right with `Sounds` for `Letters` in line 11.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! {
    Letters = 28; Sounds = 44; MaxLen = 16; SrcLen = 5; TgtLen = 7; SrcDim = 24; TgtDim = 20;
    NumLayers = 1; Batch;
}

type Reader<A> = EmbeddingDecoder<Letters, MaxLen, TgtDim, SrcDim, NumLayers, A, f32, Cpu>;

fn decode<A: HasPositionsFor<TgtDim>>(
    decoder: &Reader<A>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
    source: Tensor<(Batch, SrcLen, SrcDim), f32, Cpu>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Tensor<(Batch, TgtLen, TgtDim), f32, Cpu> {
    decoder.forward(target, source, source_padding)
}

fn main() {}
