//! An architecture with fewer heads for keys says so.
//! Covers `Self` of `nn::GroupedQuery`.
//! Right with `Small` for `Other` in line 40.
//! Mutants cover `GroupSize` by `GroupSize`, `NumKeyValueHeads` by `NumKeyValueHeads` of `nn::GroupedQuery`.
use typed_transformer::{
    nn::GroupedQuery,
    prelude::*,
};

dims! {
    EmbedDim = 8; NumKeyValueHeads = 2; GroupSize = 3; HeadDim = 4; HiddenDim = 16;
    NumHeads = 6;
}

struct Small;
impl Arch for Small {
    type NumHeads = Product<NumKeyValueHeads, GroupSize>;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}
impl GroupedQuery for Small {
    type NumKeyValueHeads = NumKeyValueHeads;
    type GroupSize = GroupSize;
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
