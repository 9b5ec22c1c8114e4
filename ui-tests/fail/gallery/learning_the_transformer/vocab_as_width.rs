//! Attention has the width of the embeddings that it reads.
//! Right with `EmbedDim` for `VocabSize` in line 11.
//!
//! *Learning the Transformer* makes it with `input_dim=n_dims`, the size of the vocabulary, and calls it
//! with the embedded tokens: as published it does not run.
use typed_transformer::{nn::Linear, prelude::*};

dims! { VocabSize = 128; EmbedDim = 8; Queries = 6; SeqLen; Batch; }

fn query(
    query_proj: &Linear<VocabSize, Queries, f32, Cpu>,
    embedded: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SeqLen, Queries), f32, Cpu>, OpError> {
    query_proj.forward(embedded)
}

fn main() {}
