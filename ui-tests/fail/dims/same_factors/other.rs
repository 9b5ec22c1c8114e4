//! Only the factors of a product take its place.
//! Covers `Other` of `dims::SameFactors`.
//! Right with `HeadDim` for `QKDim` in line 8.
use typed_transformer::prelude::*;

dims! { NumHeads = 4; HeadDim = 2; QKDim = 2; Batch; }

fn can_become<Dims: SameFactors<(Batch, Product<NumHeads, QKDim>)>>() {}

const _: fn() = can_become::<(Batch, NumHeads, HeadDim)>;

fn main() {}
