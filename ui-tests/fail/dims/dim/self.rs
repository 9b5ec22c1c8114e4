//! A dimension has a name: `usize` is not one.
//! Covers `Self` of `dims::Dim`.
//! Right with `Batch` for `usize` in line 8.
use typed_transformer::prelude::*;

dims! { Batch; EmbedDim = 8; }

type Rows = usize;

fn mean<B: Dim>(_states: Tensor<(B, EmbedDim), f32, Cpu>) {}

const _: fn(Tensor<(Rows, EmbedDim), f32, Cpu>) = mean;

fn main() {}
