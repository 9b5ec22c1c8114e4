//! An encoder of tokens has room for its sources.
//! Proves `MaxSeqLen` of `nn::EmbeddingEncoder`.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; Short = 4; SrcLen = 5; EmbedDim = 8; NumLayers = 1; Batch; }

fn encode<A: HasPositionsFor<EmbedDim>>(
    encoder: &EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, A, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    encoder.forward(source, NoneTape)
}

fn main() {}
