//! An operand is a number or a tensor.
//! Covers `Self` of `ops::TensorOrNumber`.
//! Right with `x` for `SrcLen` in line 11.
use typed_transformer::{ops::TensorOrNumber, prelude::*};

dims! { SrcLen = 5; }

fn is_operand<Right: TensorOrNumber<(SrcLen,), f32, Cpu, NoneTape>>(_: Right) {}

fn check(x: &Tensor<(SrcLen,), f32, Cpu>) {
    is_operand(SrcLen);
    let _ = x;
}

fn main() {}
