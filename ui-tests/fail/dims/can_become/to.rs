//! An axis gets the name of a dimension of its size.
//! Covers `To` of `dims::CanBecome`.
//! Right with `HeadDim` for `QKDim` in line 9.
//! Mutants cover `Self` by `EmbedDim` of `dims::CanBecome`.
use typed_transformer::{dims::CanBecome, prelude::*};

dims! { EmbedDim = 8; NumHeads = 4; HeadDim = 2; QKDim = 3; }

fn can_be_split<Width: CanBecome<Product<NumHeads, QKDim>>>() {}

const _: fn() = can_be_split::<EmbedDim>;

fn main() {}
