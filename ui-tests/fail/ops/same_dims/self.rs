//! An operand has the axes that are written.
//! Covers `Self` of `ops::SameDims`.
//! Right with `EmbedDim` for `HiddenDim` in line 8.
use typed_transformer::{ops::SameDims, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; Batch; }

type Found = (Batch, HiddenDim);
fn has_the_axes<Dims: SameDims<(Batch, EmbedDim)>>() {}

const _: fn() = has_the_axes::<Found>;

fn main() {}
