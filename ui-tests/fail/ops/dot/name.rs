//! A dot product is along an axis of both operands.
//! Covers `Name` of `ops::dot`.
//! Right with `EmbedDim` for the second `HiddenDim` in line 12.
use typed_transformer::{ops::dot, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; Batch; }

fn map(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(HiddenDim, EmbedDim), f32, Cpu>,
) {
    let _hidden: Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> = dot(input, weight, axis::<HiddenDim>());
}

fn main() {}
