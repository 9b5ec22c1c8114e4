//! A broadcast adds an axis that the result has.
//! Covers `Name` of `dims::BroadcastFrom`.
//! Right with `Batch` for `OtherBatch` in line 9.
//! Mutants cover `Self` by `SrcLen`, `Smaller` by `EmbedDim` of `dims::BroadcastFrom`.
use typed_transformer::{dims::BroadcastFrom, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn fits<Dims: BroadcastFrom<(SrcLen, EmbedDim), OtherBatch, WhichAxis>, WhichAxis>() {}

const _: fn() = fits::<(Batch, SrcLen, EmbedDim), _>;

fn main() {}
