//! What is even is a multiple of two.
//! Proves `Self` of `dims::Even`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; OddDim = 15; }

fn has_pairs<Width: Even>() {}

const _: fn() = has_pairs::<OddDim>;

fn main() {}
