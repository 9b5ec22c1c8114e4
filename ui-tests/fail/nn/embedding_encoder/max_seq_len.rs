//! An embedding encoder has one maximum source length.
//! Covers `MaxSeqLen` of `nn::EmbeddingEncoder`.
//! Right with `MaxLen` for `Short` in line 9.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; Short = 4; SrcLen = 5; EmbedDim = 8; NumLayers = 1; Batch; }

fn encode<A: HasPositionsFor<EmbedDim>>(
    encoder: &EmbeddingEncoder<Letters, Short, EmbedDim, NumLayers, A, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    encoder.forward(source, NoneTape)
}

fn main() {}
