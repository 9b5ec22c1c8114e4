//! An embedding keeps the batch.
//! Covers `B` of `nn::Embedding::forward`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{nn::Embedding, prelude::*};

dims! { Letters = 28; SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn embeds<A: Arch>(
    embedding: &Embedding<Letters, EmbedDim, A, f32, Cpu>,
    ids: &TokenIds<OtherBatch, SrcLen, Letters>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    embedding.forward(ids, NoneTape)
}

fn main() {}
