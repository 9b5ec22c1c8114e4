//! Pooling returns one vector per sequence of the batch.
//! Covers `B` of `nn::EmbeddingEncoder::pooled`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; EmbedDim = 8; NumLayers = 1; Batch; OtherBatch; }

fn pool<A: HasPositionsFor<EmbedDim>>(
    encoder: &EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, A, f32, Cpu>,
    source: &TokenIds<OtherBatch, SrcLen, Letters>,
) {
    let _pooled: Tensor<(Batch, EmbedDim), f32, Cpu> = encoder.pooled(source, NoneTape);
}

fn main() {}
