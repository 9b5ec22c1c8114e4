//! The original shape has the axes of the permuted shape.
//! Covers `Self` of `dims::PermutationOf`.
//! Right with `SrcLen` for `OtherLen` in line 10.
use typed_transformer::{dims::PermutationOf, prelude::*};

dims! { SrcLen = 5; OtherLen = 6; NumHeads = 4; }

fn is_permutation<Dims: PermutationOf<(NumHeads, SrcLen), Order>, Order>() {}

const _: fn() = is_permutation::<(OtherLen, NumHeads), _>;

fn main() {}
