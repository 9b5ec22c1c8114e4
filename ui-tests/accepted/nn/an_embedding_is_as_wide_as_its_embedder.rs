//! An embedding is as wide as its embedder.
//! Proves `EmbedDim` of `nn::Embedding`.
use typed_transformer::{nn::{Embedding, HasPositionsFor}, prelude::*};

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; HiddenDim = 32; }

fn replace<Small: HasPositionsFor<EmbedDim>, Large: HasPositionsFor<EmbedDim>>(
    embedder: &mut Embedder<Letters, MaxLen, EmbedDim, Small, f32, Cpu>,
    embedding: Embedding<Letters, EmbedDim, Small, f32, Cpu>,
) {
    embedder.token_embedder = embedding;
}

fn main() {}
