//! What is repeated is in the whole.
//! Proves `Less` of `dims::BroadcastFrom`.
use typed_transformer::{dims::BroadcastFrom, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn fits<Dims: BroadcastFrom<(SrcLen, HiddenDim), Batch, BiasRule>, BiasRule>() {}

const _: fn() = fits::<(Batch, SrcLen, EmbedDim), _>;

fn main() {}
