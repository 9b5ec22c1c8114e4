//! There is a vector for each sequence that is pooled.
//! Proves `B` of `nn::EmbeddingEncoder::pooled`.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; EmbedDim = 8; NumLayers = 1; Batch; OtherBatch; }

fn pool<A: HasPositionsFor<EmbedDim>>(
    encoder: &EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, A, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
) {
    let _pooled: Tensor<(Batch, EmbedDim), f32, Cpu> = encoder.pooled(source, NoneTape);
}

fn main() {}
