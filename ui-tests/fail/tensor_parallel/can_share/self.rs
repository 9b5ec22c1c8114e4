//! The ranks divide the heads of a model that they share.
//! Covers `Self` of `tensor_parallel::CanShare`.
//! Right with `Two` for `Three` in line 21.
use typed_transformer::{prelude::*, ranks, tensor_parallel::CanShare};

ranks! { Two = 2; Three = 3; }
dims! { NumHeads = 8; HeadDim = 4; HiddenDim = 12; }

struct Small;
impl Arch for Small {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}

fn can_share<Axis: CanShare<Small>>() {}

fn f() {
    can_share::<Three>();
}

fn main() {}
