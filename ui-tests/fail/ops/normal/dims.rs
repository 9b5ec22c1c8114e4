//! Normal numbers have the shape that they are drawn for.
//! Covers `Dims` of `ops::normal`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{ops::normal, prelude::*, rand::Rng};

dims! { SrcLen = 5; TgtLen = 5; }

fn noise(device: &Cpu, rng: &mut impl Rng) -> Result<Tensor<(TgtLen,), f32, Cpu>, OpError> {
    normal(device, (SrcLen,), rng)
}

fn main() {}
