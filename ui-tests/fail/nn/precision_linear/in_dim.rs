//! A stored weight multiplies vectors of its width.
//! Covers `InDim` of `nn::Precision::linear`.
//! Right with `EmbedDim` for `KeyDim` in line 10.
//! Mutants cover `Dims` by `Batch`, `OutDim` by `HiddenDim` of `nn::Precision::linear`.
use typed_transformer::{nn::{Precision, Q8, Stored}, prelude::*};

dims! { EmbedDim = 8; KeyDim = 8; HiddenDim = 32; OtherDim = 32; Batch; OtherBatch; }

fn map(
    input: Tensor<(Batch, KeyDim), f32, Cpu>,
    weight: &Stored<(HiddenDim, EmbedDim), Cpu, Q8>,
) -> Result<Tensor<(Batch, HiddenDim), f32, Cpu>, OpError> {
    Q8::linear(input, weight, None)
}

fn main() {}
