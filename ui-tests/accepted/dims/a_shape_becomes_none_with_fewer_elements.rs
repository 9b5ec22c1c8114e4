//! A shape becomes none with fewer elements.
//! Proves `Self` of `dims::EqualProducts`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; NumHeads = 4; HeadDim = 2; QKDim = 10; Batch; }

fn can_become<Dims: EqualProducts<(Batch, EmbedDim)>>() {}

const _: fn() = can_become::<(Batch, NumHeads, HeadDim)>;

fn main() {}
