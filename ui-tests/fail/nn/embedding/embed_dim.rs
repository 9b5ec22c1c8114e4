//! An embedding has the width of its embedder.
//! Covers `EmbedDim` of `nn::Embedding`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
use typed_transformer::{nn::{Embedding, HasPositionsFor}, prelude::*};

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; HiddenDim = 32; }

fn replace<Small: HasPositionsFor<EmbedDim>, Large: HasPositionsFor<EmbedDim>>(
    embedder: &mut Embedder<Letters, MaxLen, EmbedDim, Small, f32, Cpu>,
    embedding: Embedding<Letters, HiddenDim, Small, f32, Cpu>,
) {
    embedder.token_embedder = embedding;
}

fn main() {}
