//! A mask is as high as there are queries.
//! Proves `QLen` of `mask::AttentionMask`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; OtherLen = 6; Batch; }

fn sizes(
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) {
    let _sizes: (Batch, TgtLen, SrcLen) = mask.shape();
}

fn main() {}
