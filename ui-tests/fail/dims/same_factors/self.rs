//! A reshaped tensor keeps the names of its axes.
//! Covers `Self` of `dims::SameFactors`.
//! Right with `SrcDim` for `QKDim` in line 11.
//! Mutants cover `Other` by `HeadDim` of `dims::SameFactors`.
use typed_transformer::prelude::*;

dims! { NumHeads = 4; HeadDim = 2; SrcDim = 8; QKDim = 8; Batch; }

fn can_become<Dims: SameFactors<(Batch, NumHeads, Product<SrcDim, HeadDim>)>>() {}

const _: fn() = can_become::<(Batch, NumHeads, QKDim, HeadDim)>;

fn main() {}
