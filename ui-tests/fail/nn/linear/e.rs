//! A linear layer reads elements of its own type: `f32` is not `f64`.
//! Covers `E` of `nn::Linear`.
//! Right with `f32` for `f64` in line 8.
use typed_transformer::{nn::Linear, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 5; }

fn map(linear: &Linear<EmbedDim, HiddenDim, f32, Cpu>, input: Tensor<(EmbedDim,), f64, Cpu>) {
    linear.forward(input).unwrap();
}

fn main() {}
