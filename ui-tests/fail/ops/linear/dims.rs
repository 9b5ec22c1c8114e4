//! A linear map keeps all axes but the last.
//! Covers `Dims` of `ops::linear`.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::{ops::linear, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; Batch; }

fn map(
    input: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(HiddenDim, EmbedDim), f32, Cpu>,
    bias: &Tensor<(HiddenDim,), f32, Cpu>,
) {
    let _hidden: Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> = linear(input, weight, Some(bias));
}

fn main() {}
