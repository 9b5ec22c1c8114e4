//! A linear layer reads tensors of its own device.
//! Covers `D` of `nn::Linear`.
//! Right with `One` for the second `Two` in line 9.
use typed_transformer::{nn::Linear, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }
type Map<D> = Linear<EmbedDim, HiddenDim, f32, D>;

fn map<One: Backend<f32>, Two: Backend<f32>>(linear: &Map<One>, input: Tensor<(EmbedDim,), f32, Two>) {
    linear.forward(input).unwrap();
}

fn main() {}
