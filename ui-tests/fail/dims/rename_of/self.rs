//! An axis gets the name of a dimension of its size.
//! Covers `Self` of `dims::RenameOf`.
//! Right with `HeadDim` for `QKDim` in line 11.
//! Mutants cover `From` by `EmbedDim` of `dims::RenameOf`.
use typed_transformer::{dims::RenameOf, prelude::*};

dims! { EmbedDim = 8; NumHeads = 4; HeadDim = 2; QKDim = 3; }

fn is_split<Heads: RenameOf<EmbedDim>>() {}

const _: fn() = is_split::<Product<NumHeads, QKDim>>;

fn main() {}
