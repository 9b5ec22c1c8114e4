//! The ranks divide the heads of a model that is divided among them.
//! Covers `Self` of `tensor_parallel::DividesLayersOf`.
//! Right with `Two` for `Three` in line 21.
use typed_transformer::{prelude::*, ranks, tensor_parallel::DividesLayersOf};

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

fn divides_layers_of<Axis: DividesLayersOf<Small>>() {}

fn f() {
    divides_layers_of::<Three>();
}

fn main() {}
