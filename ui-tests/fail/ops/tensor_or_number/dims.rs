//! An operand is an `f64`, or has the shape of the other operand.
//! Covers `Dims` of `ops::TensorOrNumber`.
//! Right with `SrcLen` for `TgtLen` in line 11.
use typed_transformer::{ops::TensorOrNumber, prelude::*};

dims! { SrcLen = 5; TgtLen = 5; }

fn is_operand<Dims: Shape, Right: TensorOrNumber<Dims, f32, Cpu, NoneTape>>(_: Right) {}

fn check(x: &Tensor<(SrcLen,), f32, Cpu>) {
    is_operand::<(TgtLen,), _>(x);
}

fn main() {}
