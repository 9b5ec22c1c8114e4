//! A stored weight multiplies vectors of its width.
//! Covers `InDim` of `nn::Precision::linear`.
//! Right with `EmbedDim` for `KeyDim` in line 10.
//! Mutants cover `Dims` by `Batch`, `OutDim` by `HiddenDim` of `nn::Precision::linear`.
use typed_transformer::{nn::{Packed, Precision, Q8}, prelude::*};

dims! { EmbedDim = 8; KeyDim = 8; HiddenDim = 32; OtherDim = 32; Batch; OtherBatch; }

fn map(
    input: Tensor<(Batch, KeyDim), f32, Cpu>,
    weight: &Packed<(HiddenDim, EmbedDim), Cpu, Q8>,
) -> Result<Tensor<(Batch, HiddenDim), f32, Cpu>, OpError> {
    Q8::linear(input, weight, None)
}

fn main() {}
