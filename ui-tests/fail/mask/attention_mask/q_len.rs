//! An attention mask has one row per query.
//! Covers `QLen` of `mask::AttentionMask`.
//! Right with `TgtLen` for `OtherLen` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; OtherLen = 6; Batch; }

fn sizes(
    mask: &AttentionMask<Batch, OtherLen, SrcLen>,
) {
    let _sizes: (Batch, TgtLen, SrcLen) = mask.shape();
}

fn main() {}
