//! A whole is a multiple of its divisor.
//! Covers `Whole` of `dims::Divides`.
//! Right with `EmbedDim` for `OddDim` in line 8.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; OddDim = 15; NumHeads = 4; }

fn can_be_shared<Heads: Divides<OddDim>>() {}

const _: fn() = can_be_shared::<NumHeads>;

fn main() {}
