//! A module takes tensors of its own device.
//! Proves `D` of `nn::Linear`.
use typed_transformer::{nn::Linear, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; Other; }

fn map<One: Backend<f32>, Other: Backend<f32>>(
    linear: &Linear<EmbedDim, HiddenDim, f32, One>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, One>,
) -> Tensor<(Batch, SrcLen, HiddenDim), f32, One> {
    linear.forward(input)
}

fn main() {}
