//! A bias has one element per row of the weight.
//! Covers `OutDim` of `ops::linear`.
//! Right with `HiddenDim` for `EmbedDim` in line 12.
//! Mutants cover `Dims` by `SrcLen`, `InDim` by `EmbedDim` of `ops::linear`.
use typed_transformer::{ops::linear, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn map(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(HiddenDim, EmbedDim), f32, Cpu>,
    bias: Option<&Tensor<(EmbedDim,), f32, Cpu>>,
) -> Result<Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu>, OpError> {
    linear(input, weight, bias)
}

fn main() {}
