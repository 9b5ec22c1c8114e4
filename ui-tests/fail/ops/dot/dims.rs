//! A dot product keeps the other axes of its first operand.
//! Covers `Dims` of `ops::dot`.
//! Right with `SrcLen` for `TgtLen` in line 10.
//! Mutants cover `Name` by `EmbedDim`, `Other` by `EmbedDim` of `ops::dot`.
use typed_transformer::{ops::dot, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; Batch; }

fn map(
    input: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(HiddenDim, EmbedDim), f32, Cpu>,
) {
    let _hidden: Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> = dot(input, weight, axis::<EmbedDim>());
}

fn main() {}
