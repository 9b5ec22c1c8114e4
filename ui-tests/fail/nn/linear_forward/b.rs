//! A linear layer keeps the batch.
//! Covers `B` of `nn::Linear::forward`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{nn::Linear, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; OtherBatch; }

fn map(
    linear: &Linear<EmbedDim, HiddenDim, f32, Cpu>,
    input: Tensor<(OtherBatch, SrcLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> {
    linear.forward(input)
}

fn main() {}
