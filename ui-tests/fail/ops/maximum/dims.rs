//! A maximum has the axes of its first operand.
//! Covers `Dims` of `ops::maximum`.
//! Right with `SrcLen` for `TgtLen` in line 10.
//! Mutants cover `Smaller` by `EmbedDim` of `ops::maximum`.
use typed_transformer::{ops::maximum, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; Batch; }

fn apply(
    input: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    floor: &Tensor<(EmbedDim,), f32, Cpu>, // or over SrcLen, Batch
) {
    let _output: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = maximum(input, floor).unwrap();
}

fn main() {}
