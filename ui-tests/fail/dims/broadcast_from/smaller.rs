//! A broadcast input has the result's axes without the new one.
//! Covers `Smaller` of `dims::BroadcastFrom`.
//! Right with `EmbedDim` for `HiddenDim` in line 8.
use typed_transformer::{dims::BroadcastFrom, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn fits<Dims: BroadcastFrom<(SrcLen, HiddenDim), Batch, WhichAxis>, WhichAxis>() {}

const _: fn() = fits::<(Batch, SrcLen, EmbedDim), _>;

fn main() {}
