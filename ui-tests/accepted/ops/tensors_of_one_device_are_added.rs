//! Tensors of one device are added.
//! Proves `D` of `ops::residual`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; Batch; Other; }

fn add<One: Backend<f32>, Other: Backend<f32>>(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, One>,
    output: Tensor<(Batch, SrcLen, EmbedDim), f32, One>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, One> {
    residual(input, output)
}

fn main() {}
