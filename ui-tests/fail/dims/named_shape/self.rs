//! Every axis of a residual is a dimension.
//! Covers `Self` of `dims::NamedShape`.
//! Right with `Unchecked` for `usize` in line 9.
use typed_transformer::{dims::{NamedShape, Unchecked}, prelude::*};

dims! { EmbedDim = 8; }

fn named<Dims: NamedShape>() {}
const _: fn() = named::<(usize, EmbedDim)>;
const _: Option<Unchecked> = None;

fn main() {}
