//! Axes that agree are in one order.
//! Proves `Self` of `dims::SameAxes`.
use typed_transformer::{dims::SameAxes, prelude::*};

dims! { EmbedDim = 8; Batch; OtherBatch; }

fn agree<Dims: SameAxes<(Batch, EmbedDim)>>() {}

const _: fn() = agree::<(OtherBatch, EmbedDim)>;

fn main() {}
