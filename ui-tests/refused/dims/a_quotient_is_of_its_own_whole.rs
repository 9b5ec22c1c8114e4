//! A quotient is of its own whole.
//! Proves `Whole` of `dims::Quotient`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; HiddenDim = 32; NumHeads = 4; }

fn share(share: Quotient<HiddenDim, NumHeads>) {
    let _share: Quotient<EmbedDim, NumHeads> = share;
}

fn main() {}
