//! A reshaped tensor has at least as many elements as before.
//! Covers `Self` of `dims::EqualProducts`.
//! Right with `HeadDim` for `QKDim` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; NumHeads = 4; HeadDim = 2; QKDim = 10; Batch; }

fn can_become<Dims: EqualProducts<(Batch, EmbedDim)>>() {}

const _: fn() = can_become::<(Batch, NumHeads, QKDim)>;

fn main() {}
