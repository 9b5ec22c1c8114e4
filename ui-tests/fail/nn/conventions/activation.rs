//! The activation of conventions is an `Activation`.
//! Covers `Activation` of `nn::Conventions`.
//! Covers `Self` of `ops::Activation`.
//! Right with `Relu` for `Reduction` in line 10.
use typed_transformer::{nn, ops, prelude::*};

struct Mine;

impl nn::Conventions for Mine {
    type Activation = ops::Reduction;
    type Positions = nn::Sinusoidal;
    type PaddingRule = PadSourceKeys;
}

fn main() {}
