//! An embedding belongs to one architecture.
//! Covers `A` of `nn::Embedding`.
//! Right with `Small` for `Large` in line 10.
use typed_transformer::{nn::{Embedding, HasPositionsFor}, prelude::*};

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; }

fn replace<Small: HasPositionsFor<EmbedDim>, Large: HasPositionsFor<EmbedDim>>(
    embedder: &mut Embedder<Letters, MaxLen, EmbedDim, Small, f32, Cpu>,
    embedding: Embedding<Letters, EmbedDim, Large, f32, Cpu>,
) {
    embedder.token_embedder = embedding;
}

fn main() {}
