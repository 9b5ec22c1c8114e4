//! The positions of a style are learned or sinusoids.
//! Proves `Positions` of `nn::Style`.
//! Proves `Self` of `nn::PositionKind`.
use typed_transformer::{nn, ops, prelude::*};

struct Mine;

impl nn::Style for Mine {
    type Activation = ops::Relu;
    type Positions = nn::PowerOfWidth;
    type Padding = PadSourceKeys;
}

fn main() {}
