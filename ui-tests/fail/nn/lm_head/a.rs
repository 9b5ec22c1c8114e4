//! A language-model head belongs to one architecture.
//! Covers `A` of `nn::LmHead`.
//! Right with `Small` for `Large` in line 11.
use typed_transformer::{nn::{Embedding, LmHead}, prelude::*};

dims! { Letters = 28; TgtLen = 7; EmbedDim = 8; Batch; }

fn logits<Small: Arch, Large: Arch>(
    logit: &LmHead<EmbedDim, Letters, Small, f32, Cpu>,
    decoded: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    table: &Embedding<Letters, EmbedDim, Large, f32, Cpu>,
) -> Tensor<(Batch, TgtLen, Letters), f32, Cpu> {
    logit.forward(decoded, table)
}

fn main() {}
