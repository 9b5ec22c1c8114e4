//! What is repeated is in the whole.
//! Proves `Less` of `dims::Repeats`.
use typed_transformer::{dims::Repeats, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn fits<Dims: Repeats<(SrcLen, EmbedDim), Batch, Place>, Place>() {}

const _: fn() = fits::<(Batch, SrcLen, EmbedDim), _>;

fn main() {}
