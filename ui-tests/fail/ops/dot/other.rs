//! Both operands of a dot product have the axis.
//! Covers `Other` of `ops::dot`.
//! Right with `EmbedDim` for `TgtLen` in line 10.
use typed_transformer::{ops::dot, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; Batch; }

fn map(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(HiddenDim, TgtLen), f32, Cpu>,
) {
    let _hidden: Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> = dot(input, weight, axis::<EmbedDim>());
}

fn main() {}
