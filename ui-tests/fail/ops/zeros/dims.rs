//! A constant has the shape that it is made with.
//! Covers `Dims` of `ops::zeros`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{ops::zeros, prelude::*};

dims! { SrcLen = 5; TgtLen = 5; }

fn constant(device: &Cpu) -> Result<Tensor<(TgtLen,), f32, Cpu>, OpError> {
    zeros(device, (SrcLen,))
}

fn main() {}
