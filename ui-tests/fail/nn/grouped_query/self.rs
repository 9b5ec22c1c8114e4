//! An architecture with fewer heads for keys says so.
//! Covers `Self` of `nn::GroupedQuery`.
//! Right with `Small` for `Other` in line 39.
use typed_transformer::{
    nn::GroupedQuery,
    prelude::*,
};

dims! {
    EmbedDim = 8; KeyValueHeads = 2; Groups = 3; HeadDim = 4; HiddenDim = 16;
    NumHeads = 6;
}

struct Small;
impl Arch for Small {
    type NumHeads = Product<KeyValueHeads, Groups>;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}
impl GroupedQuery for Small {
    type KeyValueHeads = KeyValueHeads;
    type Groups = Groups;
}

struct Other;
impl Arch for Other {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}

fn shares_heads<A: GroupedQuery>() {}

fn check() {
    shares_heads::<Other>();
}

fn main() {}
