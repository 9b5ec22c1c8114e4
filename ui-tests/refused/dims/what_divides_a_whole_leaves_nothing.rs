//! What divides a whole leaves nothing.
//! Proves `Self` of `dims::Divides`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; NumHeads = 4; OtherHeads = 3; }

fn can_be_shared<Heads: Divides<EmbedDim>>() {}

const _: fn() = can_be_shared::<OtherHeads>;

fn main() {}
