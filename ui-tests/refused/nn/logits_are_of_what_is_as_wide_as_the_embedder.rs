//! Logits are of what is as wide as the embedder.
//! Proves `EmbedDim` of `nn::LmHead`.
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
