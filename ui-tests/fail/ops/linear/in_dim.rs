//! A weight has one column per column of the input.
//! Covers `InDim` of `ops::linear`.
//! Right with `EmbedDim` for `SrcDim` in line 10.
use typed_transformer::{ops::linear, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; SrcDim = 24; Batch; }

fn map(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(HiddenDim, SrcDim), f32, Cpu>,
    bias: &Tensor<(HiddenDim,), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> {
    linear(input, weight, Some(bias))
}

fn main() {}
