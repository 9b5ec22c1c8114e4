//! An embedding decoder uses the padding of its source.
//! Covers `K` of `nn::EmbeddingDecoder::forward`.
//! Right with `SrcLen` for `TgtLen` in line 16.
//! Mutants cover `B` by `Batch`, `Q` by `TgtLen` of `nn::EmbeddingDecoder::forward`.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! {
    Sounds = 44; MaxLen = 16; SrcLen = 5; TgtLen = 7; SrcDim = 24; TgtDim = 20; NumLayers = 1;
    Batch;
}

fn decode<A: HasPositionsFor<TgtDim>>(
    decoder: &EmbeddingDecoder<Sounds, MaxLen, TgtDim, SrcDim, NumLayers, A, f32, Cpu>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
    source: Tensor<(Batch, SrcLen, SrcDim), f32, Cpu>,
    source_padding: &PaddingMask<Batch, TgtLen>,
) -> Result<Tensor<(Batch, TgtLen, TgtDim), f32, Cpu>, OpError> {
    decoder.forward(target, source, source_padding)
}

fn main() {}
