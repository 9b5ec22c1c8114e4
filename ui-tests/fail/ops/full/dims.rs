//! A constant has the shape that it is made with.
//! Covers `Dims` of `ops::full`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{ops::full, prelude::*};

dims! { SrcLen = 5; TgtLen = 5; }

fn constant(device: &Cpu) -> Result<Tensor<(TgtLen,), f32, Cpu>, OpError> {
    full(device, (SrcLen,), 0.5)
}

fn main() {}
