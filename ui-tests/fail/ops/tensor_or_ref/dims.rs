//! An operand has the axes that an operation takes.
//! Covers `Dims` of `ops::TensorOrRef`.
//! Right with `EmbedDim` for `HiddenDim` in line 9.
//! Mutants cover `Self` by `EmbedDim` of `ops::TensorOrRef`.
use typed_transformer::{ops::TensorOrRef, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; Batch; }

fn widths<T>(operand: impl TensorOrRef<(Batch, HiddenDim), f32, Cpu, T>) {
    let _ = operand.split();
}

fn width(x: Tensor<(Batch, EmbedDim), f32, Cpu>) {
    widths(x);
}

fn main() {}
