//! An embedding keeps the sequence length.
//! Covers `S` of `nn::Embedding::forward`.
//! Right with `SrcLen` for `TgtLen` in line 11.
//! Mutants cover `B` by `Batch` of `nn::Embedding::forward`.
use typed_transformer::{nn::Embedding, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn embeds<A: Arch>(
    embedding: &Embedding<Letters, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<Batch, TgtLen, Letters>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    embedding.forward(ids, NoneTape)
}

fn main() {}
