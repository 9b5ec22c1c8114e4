//! An embedding reads tokens of its own vocabulary.
//! Covers `N` of `nn::Embedding`.
//! Right with `Letters` for `Sounds` in line 9.
use typed_transformer::{nn::Embedding, prelude::*};

dims! { Letters = 28; Sounds = 44; SrcLen = 5; EmbedDim = 8; Batch; }

fn embeds<A: Arch>(
    embedding: &Embedding<Sounds, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<Batch, SrcLen, Letters>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    embedding.forward(ids, NoneTape)
}

fn main() {}
