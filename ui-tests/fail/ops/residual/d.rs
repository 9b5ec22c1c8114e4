//! Both operands of a residual are on the same device.
//! Covers `D` of `ops::residual`.
//! Right with `One` for `Other` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; Batch; Other; }

fn add<One: Backend<f32>, Other: Backend<f32>>(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, One>,
    output: Tensor<(Batch, SrcLen, EmbedDim), f32, Other>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, One>, OpError> {
    residual(input, output)
}

fn main() {}
