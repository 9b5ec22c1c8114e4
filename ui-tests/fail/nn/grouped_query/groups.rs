//! The heads of the query are the heads of the key, times the groups.
//! Covers `Groups` of `nn::GroupedQuery`.
//! Right with `Groups` for `OtherGroups` in line 18.
use typed_transformer::{nn::GroupedQuery, prelude::*};

dims! { KeyValueHeads = 2; OtherHeads = 2; Groups = 3; OtherGroups = 3; HeadDim = 4; HiddenDim = 16; }

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
    type Groups = OtherGroups;
}

fn main() {}
