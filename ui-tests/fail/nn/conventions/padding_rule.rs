//! The padding rule of conventions is a `PaddingRule`.
//! Covers `PaddingRule` of `nn::Conventions`.
//! Covers `Self` of `mask::PaddingRule`.
//! Right with `PadSourceKeys` for `CausalMask` in line 12.
use typed_transformer::{nn, ops, prelude::*};

struct Mine;

impl nn::Conventions for Mine {
    type Activation = ops::Relu;
    type Positions = nn::Sinusoidal;
    type PaddingRule = CausalMask;
}

fn main() {}
