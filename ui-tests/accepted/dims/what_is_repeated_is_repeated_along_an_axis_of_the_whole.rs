//! What is repeated is repeated along an axis of the whole.
//! Proves `Name` of `dims::BroadcastFrom`.
use typed_transformer::{dims::BroadcastFrom, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn fits<Dims: BroadcastFrom<(SrcLen, EmbedDim), Batch, BiasRule>, BiasRule>() {}

const _: fn() = fits::<(Batch, SrcLen, EmbedDim), _>;

fn main() {}
