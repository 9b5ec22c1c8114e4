//! A linear layer reads tensors of its own device.
//! Covers `D` of `nn::Linear`.
//! Right with `One` for `Other` in line 10.
use typed_transformer::{nn::Linear, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; Other; }

fn map<One: Backend<f32>, Other: Backend<f32>>(
    linear: &Linear<EmbedDim, HiddenDim, f32, One>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Other>,
) -> Tensor<(Batch, SrcLen, HiddenDim), f32, One> {
    linear.forward(input)
}

fn main() {}
