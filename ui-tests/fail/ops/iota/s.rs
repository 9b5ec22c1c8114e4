//! There are as many numbers as places.
//! Covers `S` of `ops::iota`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{ops::iota, prelude::*};

dims! { SrcLen = 5; TgtLen = 5; }

fn positions(device: &Cpu) -> Result<Tensor<(TgtLen,), f32, Cpu>, OpError> {
    iota(device, SrcLen)
}

fn main() {}
