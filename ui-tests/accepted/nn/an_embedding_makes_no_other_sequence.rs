//! An embedding makes no other sequence.
//! Proves `S` of `nn::Embedding::forward`.
use typed_transformer::{nn::Embedding, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn embeds<A: Arch>(
    embedding: &Embedding<Letters, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<Batch, SrcLen, Letters>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    embedding.forward(ids, NoneTape)
}

fn main() {}
