//! A linear map changes the last axis.
//! Covers `Name` of `dims::EndsIn`.
//! Right with `EmbedDim` for `SrcLen` in line 9.
//! Mutants cover `Self` by `EmbedDim` of `dims::EndsIn`.
use typed_transformer::{dims::EndsIn, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; Batch; }

fn ends<Dims: EndsIn<SrcLen>>() {}

const _: fn() = ends::<(Batch, SrcLen, EmbedDim)>;

fn main() {}
