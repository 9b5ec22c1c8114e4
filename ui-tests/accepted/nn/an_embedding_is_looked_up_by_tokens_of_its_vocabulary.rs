//! An embedding is looked up by tokens of its vocabulary.
//! Proves `N` of `nn::Embedding`.
use typed_transformer::{nn::Embedding, prelude::*};

dims! { Letters = 28; Sounds = 44; SrcLen = 5; EmbedDim = 8; Batch; }

fn embeds<A: Arch>(
    embedding: &Embedding<Letters, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<Batch, SrcLen, Letters>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    embedding.forward(ids, NoneTape)
}

fn main() {}
