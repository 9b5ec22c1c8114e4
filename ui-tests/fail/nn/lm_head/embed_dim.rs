//! A language-model head reads vectors of the embedder's width.
//! Covers `EmbedDim` of `nn::LmHead`.
//! Right with `EmbedDim` for `HiddenDim` in line 11.
use typed_transformer::{nn::{Embedding, LmHead}, prelude::*};

dims! { Letters = 28; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; Batch; }

fn logits<A: Arch>(
    logit: &LmHead<EmbedDim, Letters, A, f32, Cpu>,
    decoded: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    table: &Embedding<Letters, HiddenDim, A, f32, Cpu>,
) -> Tensor<(Batch, TgtLen, Letters), f32, Cpu> {
    logit.forward(decoded, table)
}

fn main() {}
