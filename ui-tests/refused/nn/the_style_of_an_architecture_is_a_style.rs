//! The style of an architecture is a style.
//! Proves `Conventions` of `nn::Arch`.
//! Proves `Self` of `nn::Conventions`.
use typed_transformer::prelude::*;

dims! { HiddenDim = 32; NumHeads = 4; QKDim = 10; VODim = 11; }

struct Small;

impl Arch for Small {
    type NumHeads = NumHeads;
    type QKDim = QKDim;
    type VODim = VODim;
    type HiddenDim = HiddenDim;
    type Conventions = CausalMask;
}

fn main() {}
