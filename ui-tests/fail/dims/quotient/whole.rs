//! A quotient keeps its dividend.
//! Covers `Whole` of `dims::Quotient`.
//! Right with `EmbedDim` for `HiddenDim` in line 8.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; HiddenDim = 32; NumHeads = 4; }

fn share(share: Quotient<HiddenDim, NumHeads>) {
    let _share: Quotient<EmbedDim, NumHeads> = share;
}

fn main() {}
