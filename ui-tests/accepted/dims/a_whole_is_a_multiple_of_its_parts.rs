//! A whole is a multiple of its parts.
//! Proves `Whole` of `dims::Divides`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; OddDim = 15; NumHeads = 4; }

fn can_be_shared<Heads: Divides<EmbedDim>>() {}

const _: fn() = can_be_shared::<NumHeads>;

fn main() {}
