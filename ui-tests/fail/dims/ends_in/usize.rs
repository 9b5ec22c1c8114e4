//! All axes of a tensor are dimensions, also those that a linear layer leaves as they are.
//! Right with `Unchecked` for `usize` in line 7.
use typed_transformer::{dims::Unchecked, nn::Linear, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }

fn hidden(x: Tensor<(usize, EmbedDim), f32, Cpu>, linear: &Linear<EmbedDim, HiddenDim, f32, Cpu>, _: Unchecked) {
    let _hidden = linear.forward(x);
}

fn main() {}
