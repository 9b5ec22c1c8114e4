//! A tensor has the shape that it is made with.
//! Covers `Dims` of `ops::tensor`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::prelude::*;

dims! { SrcLen = 2; TgtLen = 2; }

fn pair(device: &Cpu) -> Result<Tensor<(TgtLen,), f32, Cpu>, OpError> {
    tensor(device, [0.5, 1.0], (SrcLen,))
}

fn main() {}
