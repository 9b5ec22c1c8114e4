//! In mixed precision too, a weight reads what the input has.
//! Covers `InDim` of `ops::linear_in_bf16`.
//! Right with `EmbedDim` for `HiddenDim` in line 11.
//! Mutants cover `Dims` by `SrcLen`, `OutDim` by `VocabSize` of `ops::linear_in_bf16`.
use typed_transformer::{ops::linear_in_bf16, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; VocabSize = 28; Batch; }

fn map(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(VocabSize, HiddenDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, VocabSize), f32, Cpu>, OpError> {
    linear_in_bf16(input, weight, None)
}

fn main() {}
