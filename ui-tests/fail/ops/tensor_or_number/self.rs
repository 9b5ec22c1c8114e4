//! An operand is an `f64` or a tensor, and `0` is neither.
//! Covers `Self` of `ops::TensorOrNumber`.
//! Right with `x` for `0` in line 11.
use typed_transformer::{ops::TensorOrNumber, prelude::*};

dims! { SrcLen = 5; }

fn is_operand<Right: TensorOrNumber<(SrcLen,), f32, Cpu, NoneTape>>(_: Right) {}

fn check(x: &Tensor<(SrcLen,), f32, Cpu>) {
    is_operand(0);
    let _ = x;
}

fn main() {}
