//! An embedding makes no other batch.
//! Proves `B` of `nn::Embedding::forward`.
use typed_transformer::{nn::Embedding, prelude::*};

dims! { Letters = 28; SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn embeds<A: Arch>(
    embedding: &Embedding<Letters, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<Batch, SrcLen, Letters>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    embedding.forward(ids, NoneTape)
}

fn main() {}
