//! A mask is as wide as there are keys.
//! Proves `KLen` of `mask::AttentionMask`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; OtherLen = 6; Batch; }

fn sizes(
    mask: &AttentionMask<Batch, TgtLen, OtherLen>,
) {
    let _sizes: (Batch, TgtLen, SrcLen) = mask.shape();
}

fn main() {}
