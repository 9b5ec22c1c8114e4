//! An attention mask has one column per key.
//! Covers `KLen` of `mask::AttentionMask`.
//! Right with `SrcLen` for `OtherLen` in line 10.
//! Mutants cover `Batch` by `Batch`, `QLen` by `TgtLen` of `mask::AttentionMask`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; OtherLen = 6; Batch; }

fn sizes(
    mask: &AttentionMask<Batch, TgtLen, OtherLen>,
) {
    let _sizes: (Batch, TgtLen, SrcLen) = mask.shape();
}

fn main() {}
