//! A language-model head is tied to the table of its own vocabulary.
//! Covers `VocabSize` of `nn::LmHead`.
//! Right with `Letters` for `Sounds` in line 11.
use typed_transformer::{nn::{Embedding, LmHead}, prelude::*};

dims! { Letters = 28; Sounds = 28; EmbedDim = 8; SeqLen; Batch; }

fn logits<A: Arch>(
    logit: &LmHead<EmbedDim, Letters, A, f32, Cpu>,
    input: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
    table: &Embedding<Sounds, EmbedDim, A, f32, Cpu>,
) -> Result<Tensor<(Batch, SeqLen, Letters), f32, Cpu>, OpError> {
    logit.forward(input, table)
}

fn main() {}
