//! Both operands of a residual have the same element type.
//! Covers `E` of `ops::residual`.
//! Right with `f32` for `f64` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; Batch; }

fn add(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    output: Tensor<(Batch, SrcLen, EmbedDim), f64, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    residual(input, output)
}

fn main() {}
