//! An embedding encoder keeps the sequence length.
//! Covers `S` of `nn::EmbeddingEncoder::forward`.
//! Right with `SrcLen` for `TgtLen` in line 11.
//! Mutants cover `B` by `Batch` of `nn::EmbeddingEncoder::forward`.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; TgtLen = 7; EmbedDim = 8; NumLayers = 1; Batch; }

fn encode<A: HasPositionsFor<EmbedDim>>(
    encoder: &EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, A, f32, Cpu>,
    source: &TokenIds<Batch, TgtLen, Letters>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    encoder.forward(source, NoneTape)
}

fn main() {}
