//! A reshaped tensor has at most as many elements as before.
//! Covers `Other` of `dims::EqualProducts`.
//! Right with `EmbedDim` for `HiddenDim` in line 8.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; HiddenDim = 32; NumHeads = 4; HeadDim = 2; Batch; }

fn can_become<Dims: EqualProducts<(Batch, HiddenDim)>>() {}

const _: fn() = can_become::<(Batch, NumHeads, HeadDim)>;

fn main() {}
