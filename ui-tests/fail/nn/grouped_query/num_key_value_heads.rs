//! The heads of the query are the heads of the key, times the size of a group.
//! Covers `NumKeyValueHeads` of `nn::GroupedQuery`.
//! Right with `NumKeyValueHeads` for `OtherHeads` in line 17.
use typed_transformer::{nn::GroupedQuery, prelude::*};

dims! { NumKeyValueHeads = 2; OtherHeads = 2; GroupSize = 3; OtherGroupSize = 3; HeadDim = 4; HiddenDim = 16; }

struct Small;
impl Arch for Small {
    type NumHeads = Product<NumKeyValueHeads, GroupSize>;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}
impl GroupedQuery for Small {
    type NumKeyValueHeads = OtherHeads;
    type GroupSize = GroupSize;
}

fn main() {}
