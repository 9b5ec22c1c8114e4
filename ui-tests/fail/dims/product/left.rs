//! A product keeps its first factor.
//! Covers `Left` of `dims::Product`.
//! Right with `NumHeads` for `OtherHeads` in line 8.
use typed_transformer::prelude::*;

dims! { NumHeads = 4; OtherHeads = 3; HeadDim = 2; }

fn columns(columns: Product<OtherHeads, HeadDim>) {
    let _columns: Product<NumHeads, HeadDim> = columns;
}

fn main() {}
