//! What is repeated is repeated along an axis of the whole.
//! Proves `Name` of `dims::Repeats`.
use typed_transformer::{dims::Repeats, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn fits<Dims: Repeats<(SrcLen, EmbedDim), Batch, Place>, Place>() {}

const _: fn() = fits::<(Batch, SrcLen, EmbedDim), _>;

fn main() {}
