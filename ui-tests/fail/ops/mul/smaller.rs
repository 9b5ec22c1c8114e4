//! A product has no axis that its first operand does not have.
//! Covers `Smaller` of `ops::mul`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
use typed_transformer::{ops::mul, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; Batch; }

fn apply(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    scale: &Tensor<(HiddenDim,), f32, Cpu>,
) {
    let _output: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = mul(input, scale);
}

fn main() {}
