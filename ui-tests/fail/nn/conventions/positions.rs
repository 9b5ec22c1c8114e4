//! The positions of conventions are a `PositionKind`.
//! Covers `Positions` of `nn::Conventions`.
//! Covers `Self` of `nn::PositionKind`.
//! Right with `Sinusoidal` for `WidthScale` in line 11.
use typed_transformer::{nn, ops, prelude::*};

struct Mine;

impl nn::Conventions for Mine {
    type Activation = ops::Relu;
    type Positions = nn::WidthScale;
    type PaddingRule = PadSourceKeys;
}

fn main() {}
