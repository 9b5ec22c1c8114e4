//! The heads of the queries are the product of heads and groups.
//! Covers `Groups` of `nn::GroupedHeads`.
//! Right with `Groups` for `OtherGroups` in line 13.
use typed_transformer::{nn::GroupedHeads, prelude::*};

dims! { KeyValueHeads = 2; OtherHeads = 2; Groups = 3; OtherGroups = 3; NumHeads = 6; }

fn is_grouped<NumHeads: GroupedHeads<KeyValueHeads, Groups>, KeyValueHeads: ConstDim, Groups: ConstDim>() {}

type Heads = Product<KeyValueHeads, Groups>;

fn check() {
    is_grouped::<Product<KeyValueHeads, Groups>, KeyValueHeads, OtherGroups>();
}

fn main() {}
