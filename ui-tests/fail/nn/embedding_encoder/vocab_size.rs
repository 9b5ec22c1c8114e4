//! An embedding encoder reads tokens of its own vocabulary.
//! Covers `VocabSize` of `nn::EmbeddingEncoder`.
//! Right with `Letters` for `Sounds` in line 9.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! { Letters = 28; Sounds = 44; MaxLen = 16; SrcLen = 5; EmbedDim = 8; NumLayers = 1; Batch; }

fn encode<A: HasPositionsFor<EmbedDim>>(
    encoder: &EmbeddingEncoder<Sounds, MaxLen, EmbedDim, NumLayers, A, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    encoder.forward(source, NoneTape)
}

fn main() {}
