//! A reshaped tensor keeps the order of its axes.
//! Covers `Self` of `dims::SameFactors`.
//! Right with `NumHeads, SrcLen` for `SrcLen, NumHeads` in line 10.
use typed_transformer::prelude::*;

dims! { NumHeads = 4; HeadDim = 2; SrcLen; }

fn can_become<Dims: SameFactors<(NumHeads, Product<SrcDim, HeadDim>)>>() {}

const _: fn() = can_become::<(SrcLen, NumHeads, HeadDim)>;

fn main() {}
