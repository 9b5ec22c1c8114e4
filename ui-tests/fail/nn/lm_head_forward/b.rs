//! A language-model head returns logits for each sequence of the batch.
//! Covers `B` of `nn::LmHead::forward`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{nn::{Embedding, LmHead}, prelude::*};

dims! { Letters = 28; TgtLen = 7; EmbedDim = 8; Batch; OtherBatch; }

fn logits<A: Arch>(
    logit: &LmHead<EmbedDim, Letters, A, f32, Cpu>,
    decoded: Tensor<(OtherBatch, TgtLen, EmbedDim), f32, Cpu>,
    table: &Embedding<Letters, EmbedDim, A, f32, Cpu>,
) -> Tensor<(Batch, TgtLen, Letters), f32, Cpu> {
    logit.forward(decoded, table)
}

fn main() {}
