//! The whole is what is repeated along one axis.
//! Proves `Self` of `dims::Repeats`.
use typed_transformer::{dims::Repeats, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn fits<Dims: Repeats<(SrcLen, EmbedDim), Batch, Place>, Place>() {}

const _: fn() = fits::<(Batch, SrcLen, EmbedDim), _>;

fn main() {}
