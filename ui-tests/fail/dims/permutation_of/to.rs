//! A permuted shape has the axes of the original shape.
//! Covers `To` of `dims::PermutationOf`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{dims::PermutationOf, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; }

fn is_permutation<Dims: PermutationOf<(NumHeads, TgtLen), Order>, Order>() {}

const _: fn() = is_permutation::<(SrcLen, NumHeads), _>;

fn main() {}
