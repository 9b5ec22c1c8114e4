//! A layer after a concatenation has the width of both parts.
//! Right with `Both` for `EmbedDim` in line 8.
use typed_transformer::{nn::Linear, prelude::*};

dims! { EmbedDim = 16; Both: Sum<EmbedDim, EmbedDim>; Letters = 26; }

fn logits<B: Dim, S: Dim>(
    answer: &Linear<EmbedDim, Letters, f32, Cpu>,
    letters: Tensor<(B, S, EmbedDim), f32, Cpu>,
    context: Tensor<(B, S, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(B, S, Letters), f32, Cpu>, OpError> {
    answer.forward(concat(letters, context, along::<EmbedDim, EmbedDim>())?)
}

fn main() {}
