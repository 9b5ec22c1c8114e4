//! The whole is what is repeated along one axis.
//! Proves `Self` of `dims::BroadcastFrom`.
use typed_transformer::{dims::BroadcastFrom, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn fits<Dims: BroadcastFrom<(SrcLen, EmbedDim), Batch, BiasRule>, BiasRule>() {}

const _: fn() = fits::<(Batch, TgtLen, EmbedDim), _>;

fn main() {}
