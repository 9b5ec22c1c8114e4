//! An embedding belongs to one architecture.
//! Proves `A` of `nn::Embedding`.
use typed_transformer::{nn::{Embedding, HasPositionsFor}, prelude::*};

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; }

fn replace<Small: HasPositionsFor<EmbedDim>, Large: HasPositionsFor<EmbedDim>>(
    embedder: &mut Embedder<Letters, MaxLen, EmbedDim, Small, f32, Cpu>,
    embedding: Embedding<Letters, EmbedDim, Large, f32, Cpu>,
) {
    embedder.token_embedder = embedding;
}

fn main() {}
