//! A bias has one element per row of the weight, in mixed precision too.
//! Covers `OutDim` of `ops::linear_in_bf16`.
//! Right with `HiddenDim` for `EmbedDim` in line 12.
//! Mutants cover `Dims` by `SrcLen`, `InDim` by `EmbedDim` of `ops::linear_in_bf16`.
use typed_transformer::{ops::linear_in_bf16, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn map(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(HiddenDim, EmbedDim), f32, Cpu>,
    bias: Option<&Tensor<(EmbedDim,), f32, Cpu>>,
) -> Result<Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu>, OpError> {
    linear_in_bf16(input, weight, bias)
}

fn main() {}
