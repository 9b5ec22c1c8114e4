//! A quotient has no axis that its first operand does not have.
//! Covers `Smaller` of `ops::div`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
use typed_transformer::{ops::div, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; Batch; }

fn apply(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    norm: &Tensor<(HiddenDim,), f32, Cpu>,
) {
    let _output: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = div(input, norm);
}

fn main() {}
