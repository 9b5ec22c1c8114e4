//! A shape becomes none with more elements.
//! Proves `Other` of `dims::EqualProducts`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; HiddenDim = 32; NumHeads = 4; HeadDim = 2; Batch; }

fn can_become<Dims: EqualProducts<(Batch, HiddenDim)>>() {}

const _: fn() = can_become::<(Batch, NumHeads, HeadDim)>;

fn main() {}
