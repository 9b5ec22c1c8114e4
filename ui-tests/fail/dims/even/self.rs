//! An even dimension is a multiple of two.
//! Covers `Self` of `dims::Even`.
//! Right with `EmbedDim` for `OddDim` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; OddDim = 15; }

fn has_pairs<Width: Even>() {}

const _: fn() = has_pairs::<OddDim>;

fn main() {}
