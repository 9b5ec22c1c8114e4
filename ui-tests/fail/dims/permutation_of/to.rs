//! A permuted shape has the axes of the original shape.
//! Covers `To` of `dims::PermutationOf`.
//! Right with `SrcLen` for `TgtLen` in line 9.
//! Mutants cover `Self` by `SrcLen` of `dims::PermutationOf`.
use typed_transformer::{dims::PermutationOf, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; }

fn is_permutation<Dims: PermutationOf<(NumHeads, TgtLen), Order>, Order>() {}

const _: fn() = is_permutation::<(SrcLen, NumHeads), _>;

fn main() {}
