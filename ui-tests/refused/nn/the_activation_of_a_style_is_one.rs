//! The activation of a style is one.
//! Proves `Activation` of `nn::Conventions`.
//! Proves `Self` of `ops::Activation`.
use typed_transformer::{nn, ops, prelude::*};

struct Mine;

impl nn::Conventions for Mine {
    type Activation = ops::Reduction;
    type Positions = nn::Sinusoidal;
    type Padding = PadSourceKeys;
}

fn main() {}
