//! A linear map keeps the batch.
//! Covers `B` of `ops::linear`.
//! Right with `Batch` for `OtherBatch` in line 9.
use typed_transformer::{ops::linear, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; OtherBatch; }

fn map(
    input: Tensor<(OtherBatch, SrcLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(HiddenDim, EmbedDim), f32, Cpu>,
    bias: &Tensor<(HiddenDim,), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> {
    linear(input, weight, Some(bias))
}

fn main() {}
