//! A broadcast result has the new axis beside the axes of the input.
//! Covers `Self` of `dims::BroadcastFrom`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{dims::BroadcastFrom, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn fits<Dims: BroadcastFrom<(SrcLen, EmbedDim), Batch, WhichAxis>, WhichAxis>() {}

const _: fn() = fits::<(Batch, TgtLen, EmbedDim), _>;

fn main() {}
