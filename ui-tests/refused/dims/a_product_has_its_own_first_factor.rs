//! A product has its own first factor.
//! Proves `One` of `dims::Product`.
use typed_transformer::prelude::*;

dims! { NumHeads = 4; OtherHeads = 3; HeadDim = 2; }

fn columns(columns: Product<OtherHeads, HeadDim>) {
    let _columns: Product<NumHeads, HeadDim> = columns;
}

fn main() {}
