//! A language-model head returns logits for each position.
//! Covers `S` of `nn::LmHead::forward`.
//! Right with `TgtLen` for `SrcLen` in line 11.
//! Mutants cover `B` by `Batch` of `nn::LmHead::forward`.
use typed_transformer::{nn::{Embedding, LmHead}, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn logits<A: Arch>(
    logit: &LmHead<EmbedDim, Letters, A, f32, Cpu>,
    decoded: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    table: &Embedding<Letters, EmbedDim, A, f32, Cpu>,
) -> Result<Tensor<(Batch, TgtLen, Letters), f32, Cpu>, OpError> {
    logit.forward(decoded, table)
}

fn main() {}
