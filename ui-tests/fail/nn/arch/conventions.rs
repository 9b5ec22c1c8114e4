//! The conventions of an architecture implement `Conventions`.
//! Covers `Conventions` of `nn::Arch`.
//! Covers `Self` of `nn::Conventions`.
//! Right with `TypedTransformer` for `CausalMask` in line 16.
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
