//! A tensor of vectors has the vectors along its last axis.
//! Covers `Self` of `dims::EndsIn`.
//! Right with `EmbedDim` for `SrcLen` in line 10.
use typed_transformer::{dims::EndsIn, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; Batch; }

fn ends<Dims: EndsIn<EmbedDim>>() {}

const _: fn() = ends::<(Batch, SrcLen)>;

fn main() {}
