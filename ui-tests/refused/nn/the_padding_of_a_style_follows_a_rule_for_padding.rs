//! The padding of a style follows a rule for padding.
//! Proves `Padding` of `nn::Conventions`.
//! Proves `Self` of `mask::PaddingRule`.
use typed_transformer::{nn, ops, prelude::*};

struct Mine;

impl nn::Conventions for Mine {
    type Activation = ops::Relu;
    type Positions = nn::Sinusoidal;
    type Padding = CausalMask;
}

fn main() {}
