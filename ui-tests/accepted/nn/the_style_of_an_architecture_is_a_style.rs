//! The style of an architecture is a style.
//! Proves `Style` of `nn::Arch`.
//! Proves `Self` of `nn::Style`.
use typed_transformer::prelude::*;

dims! { HiddenDim = 32; NumHeads = 4; QKDim = 10; VODim = 11; }

struct Small;

impl Arch for Small {
    type NumHeads = NumHeads;
    type QKDim = QKDim;
    type VODim = VODim;
    type HiddenDim = HiddenDim;
    type Style = TypedTransformer;
}

fn main() {}
