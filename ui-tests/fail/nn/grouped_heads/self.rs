//! The heads of the queries are the product of the key heads and the size of a group.
//! Covers `Self` of `nn::GroupedHeads`.
//! Right with `Heads` for `NumHeads` in line 14.
//! Mutants cover `GroupSize` by `GroupSize`, `NumKeyValueHeads` by `NumKeyValueHeads` of `nn::GroupedHeads`.
use typed_transformer::{nn::GroupedHeads, prelude::*};

dims! { NumKeyValueHeads = 2; OtherHeads = 2; GroupSize = 3; OtherGroupSize = 3; NumHeads = 6; }

fn is_grouped<H: GroupedHeads<K, G>, K: ConstDim, G: ConstDim>() {}

type Heads = Product<NumKeyValueHeads, GroupSize>;

fn check() {
    is_grouped::<NumHeads, NumKeyValueHeads, GroupSize>();
}

fn main() {}
