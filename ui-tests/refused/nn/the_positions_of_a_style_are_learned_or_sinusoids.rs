//! The positions of a style are learned or sinusoids.
//! Proves `Positions` of `nn::Conventions`.
//! Proves `Self` of `nn::PositionKind`.
use typed_transformer::{nn, ops, prelude::*};

struct Mine;

impl nn::Conventions for Mine {
    type Activation = ops::Relu;
    type Positions = nn::WidthScale;
    type Padding = PadSourceKeys;
}

fn main() {}
