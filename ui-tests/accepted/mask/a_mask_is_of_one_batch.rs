//! A mask is of one batch.
//! Proves `Batch` of `mask::AttentionMask`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

fn sizes(
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) {
    let _sizes: (Batch, TgtLen, SrcLen) = mask.shape();
}

fn main() {}
