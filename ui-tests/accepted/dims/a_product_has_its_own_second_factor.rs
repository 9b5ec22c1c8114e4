//! A product has its own second factor.
//! Proves `Other` of `dims::Product`.
use typed_transformer::prelude::*;

dims! { NumHeads = 4; HeadDim = 2; QKDim = 10; }

fn columns(columns: Product<NumHeads, HeadDim>) {
    let _columns: Product<NumHeads, HeadDim> = columns;
}

fn main() {}
