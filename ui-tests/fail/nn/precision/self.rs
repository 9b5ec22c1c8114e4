//! A dtype is not a precision of weights: `FullPrecision` is the precision of the dtype in which the model computes.
//! Covers `Self` of `nn::Precision`.
//! Right with `FullPrecision` for the second `f32` in line 8.
use typed_transformer::{nn::*, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }

fn bias(map: &Linear<EmbedDim, HiddenDim, f32, Cpu, f32>) -> Tensor<(HiddenDim,), f32, Cpu> {
    map.bias.clone()
}

fn main() {}
