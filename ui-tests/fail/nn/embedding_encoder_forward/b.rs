//! An embedding encoder keeps the batch.
//! Covers `B` of `nn::EmbeddingEncoder::forward`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; EmbedDim = 8; NumLayers = 1; Batch; OtherBatch; }

fn encode<A: HasPositionsFor<EmbedDim>>(
    encoder: &EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, A, f32, Cpu>,
    source: &TokenIds<OtherBatch, SrcLen, Letters>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    encoder.forward(source, NoneTape)
}

fn main() {}
