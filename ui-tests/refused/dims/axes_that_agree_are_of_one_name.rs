//! Axes that agree are of one name.
//! Proves `Rest` of `dims::SameAxes`.
use typed_transformer::{dims::SameAxes, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; Batch; }

fn agree<Dims: SameAxes<(Batch, HiddenDim)>>() {}

const _: fn() = agree::<(Batch, EmbedDim)>;

fn main() {}
