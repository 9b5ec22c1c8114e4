//! Concatenated tensors have their other axes in the same order.
//! Covers `Self` of `dims::SameAxes`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{dims::SameAxes, prelude::*};

dims! { EmbedDim = 8; Batch; OtherBatch; }

fn agree<Dims: SameAxes<(Batch, EmbedDim)>>() {}

const _: fn() = agree::<(OtherBatch, EmbedDim)>;

fn main() {}
