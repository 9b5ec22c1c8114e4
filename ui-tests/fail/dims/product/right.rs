//! A product keeps its second factor.
//! Covers `Right` of `dims::Product`.
//! Right with `HeadDim` for `QKDim` in line 9.
//! Mutants cover `Left` by `NumHeads` of `dims::Product`.
use typed_transformer::prelude::*;

dims! { NumHeads = 4; HeadDim = 2; QKDim = 10; }

fn columns(columns: Product<NumHeads, QKDim>) {
    let _columns: Product<NumHeads, HeadDim> = columns;
}

fn main() {}
