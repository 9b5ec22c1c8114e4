//! A linear layer keeps all axes but the last.
//! Covers `Dims` of `nn::Linear::forward`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{nn::Linear, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; Batch; }

fn map(linear: &Linear<EmbedDim, HiddenDim, f32, Cpu>, input: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>) {
    let _hidden: Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> = linear.forward(input).unwrap();
}

fn main() {}
