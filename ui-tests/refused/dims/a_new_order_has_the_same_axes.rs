//! A new order has the same axes.
//! Proves `To` of `dims::PermutationOf`.
use typed_transformer::{dims::PermutationOf, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; }

fn is_permutation<Dims: PermutationOf<(NumHeads, TgtLen), Order>, Order>() {}

const _: fn() = is_permutation::<(SrcLen, NumHeads), _>;

fn main() {}
