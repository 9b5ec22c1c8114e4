//! An old order has the same axes.
//! Proves `Self` of `dims::PermutationOf`.
use typed_transformer::{dims::PermutationOf, prelude::*};

dims! { SrcLen = 5; OtherLen = 6; NumHeads = 4; }

fn is_permutation<Dims: PermutationOf<(NumHeads, SrcLen), Order>, Order>() {}

const _: fn() = is_permutation::<(SrcLen, NumHeads), _>;

fn main() {}
