//! The axes that are written are those of the operand.
//! Covers `Dims` of `ops::SameDims`.
//! Right with `EmbedDim` for `HiddenDim` in line 8.
use typed_transformer::{ops::SameDims, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; Batch; }

fn has_the_axes<Dims: SameDims<(Batch, HiddenDim)>>() {}
type Found = (Batch, EmbedDim);

const _: fn() = has_the_axes::<Found>;

fn main() {}
