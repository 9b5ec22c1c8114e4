//! Concatenated tensors have the same other axes.
//! Covers `Rest` of `dims::SameAxes`.
//! Right with `EmbedDim` for `HiddenDim` in line 9.
//! Mutants cover `Self` by `Batch` of `dims::SameAxes`.
use typed_transformer::{dims::SameAxes, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; Batch; }

fn agree<Dims: SameAxes<(Batch, HiddenDim)>>() {}

const _: fn() = agree::<(Batch, EmbedDim)>;

fn main() {}
