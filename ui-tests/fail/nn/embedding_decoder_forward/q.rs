//! An embedding decoder returns one vector per target token.
//! Covers `Q` of `nn::EmbeddingDecoder::forward`.
//! Right with `TgtLen` for `OtherLen` in line 13.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! {
    Sounds = 44; MaxLen = 16; SrcLen = 5; TgtLen = 7; OtherLen = 6; SrcDim = 24; TgtDim = 20;
    NumLayers = 1; Batch;
}

fn decode<A: HasPositionsFor<TgtDim>>(
    decoder: &EmbeddingDecoder<Sounds, MaxLen, TgtDim, SrcDim, NumLayers, A, f32, Cpu>,
    target: &TokenIds<Batch, OtherLen, Sounds>,
    source: Tensor<(Batch, SrcLen, SrcDim), f32, Cpu>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Tensor<(Batch, TgtLen, TgtDim), f32, Cpu> {
    decoder.forward(target, source, source_padding)
}

fn main() {}
