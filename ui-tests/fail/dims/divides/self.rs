//! A divisor of a dimension leaves no remainder.
//! Covers `Self` of `dims::Divides`.
//! Right with `NumHeads` for `OtherHeads` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; NumHeads = 4; OtherHeads = 3; }

fn can_be_shared<Heads: Divides<EmbedDim>>() {}

const _: fn() = can_be_shared::<OtherHeads>;

fn main() {}
