//! A module of `f32` takes no `f64`.
//! Proves `E` of `nn::Linear`.
use typed_transformer::{nn::Linear, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 5; SeqLen; Batch; }

fn map(
    linear: &Linear<EmbedDim, HiddenDim, f32, Cpu>,
    input: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu> {
    linear.forward(input)
}

fn main() {}
