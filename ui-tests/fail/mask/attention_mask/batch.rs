//! An attention mask belongs to one batch.
//! Covers `Batch` of `mask::AttentionMask`.
//! Right with `Batch` for `OtherBatch` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

fn sizes(
    mask: &AttentionMask<OtherBatch, TgtLen, SrcLen>,
) {
    let _sizes: (Batch, TgtLen, SrcLen) = mask.shape();
}

fn main() {}
