//! A residual adds the tensor in the result of a layer: `?` takes it out.
//! Right with `)?` for the second `)` in line 13.
//!
//! The same line is right in dfdx, whose `forward` panics, and in PyTorch.
use typed_transformer::{nn::Linear, prelude::*};

dims! { EmbedDim = 8; SeqLen; Batch; }

fn sublayer(
    linear: &Linear<EmbedDim, EmbedDim, f32, Cpu>,
    x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, OpError> {
    residual(x.clone(), linear.forward(x))
}

fn main() {}
