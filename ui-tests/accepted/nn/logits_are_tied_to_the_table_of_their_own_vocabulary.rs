//! Logits of one vocabulary are not measured against the embeddings of another.
//! Proves `VocabSize` of `nn::LmHead`.
use typed_transformer::{nn::{Embedding, LmHead}, prelude::*};

dims! { Letters = 28; Sounds = 28; EmbedDim = 8; SeqLen; Batch; }

fn logits<A: Arch>(
    logit: &LmHead<EmbedDim, Letters, A, f32, Cpu>,
    input: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
    table: &Embedding<Letters, EmbedDim, A, f32, Cpu>,
) -> Tensor<(Batch, SeqLen, Letters), f32, Cpu> {
    logit.forward(input, table)
}

fn main() {}
