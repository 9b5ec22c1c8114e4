//! A parameter has the axes that an operation takes.
//! Covers `Self` of `ops::TensorOrRef`.
//! Right with `EmbedDim` for `HiddenDim` in line 12.
use typed_transformer::{ops::TensorOrRef, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; Batch; }

fn widths<T>(operand: impl TensorOrRef<(Batch, EmbedDim), f32, Cpu, T>) {
    let _ = operand.split();
}

fn width(x: Tensor<(Batch, HiddenDim), f32, Cpu>) {
    widths(&x);
}

fn main() {}
