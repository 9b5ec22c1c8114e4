//! A linear map makes no other sequence.
//! Proves `S` of `nn::Linear::forward`.
use typed_transformer::{nn::Linear, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; Batch; }

fn map(
    linear: &Linear<EmbedDim, HiddenDim, f32, Cpu>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> {
    linear.forward(input)
}

fn main() {}
