//! An operand is the tensor in the result of an operation: `?` takes it out.
//! Right with `)?` for the first `)` in line 13.
//!
//! The same line is right in dfdx, whose operations panic, and in PyTorch.
use typed_transformer::{ops::{mul, scale}, prelude::*};

dims! { HiddenDim = 32; SeqLen; Batch; }

fn gated(
    gate: Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>,
    hidden: Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>, OpError> {
    mul(hidden, scale(gate, 0.5))
}

fn main() {}
