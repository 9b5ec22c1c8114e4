//! A pooled sequence is at most as long as the encoder's maximum.
//! Covers `S` of `nn::EmbeddingEncoder::pooled`.
//! Right with `SrcLen` for `Long` in line 11.
//! Mutants cover `B` by `Batch` of `nn::EmbeddingEncoder::pooled`.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; MaxLen = 16; Long = 17; SrcLen = 5; EmbedDim = 8; NumLayers = 1; Batch; }

fn pool<A: HasPositionsFor<EmbedDim>>(
    encoder: &EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, A, f32, Cpu>,
    source: &TokenIds<Batch, Long, Letters>,
) {
    let _pooled: Tensor<(Batch, EmbedDim), f32, Cpu> = encoder.pooled(source, NoneTape).unwrap();
}

fn main() {}
