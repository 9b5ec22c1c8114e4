//! A padding mask belongs to one batch.
//! Covers `Batch` of `mask::PaddingMask`.
//! Right with `Batch` for `OtherBatch` in line 8.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; Batch; OtherBatch; }

fn sizes(padding: &PaddingMask<OtherBatch, SrcLen>) -> (Batch, SrcLen) {
    padding.shape()
}

fn main() {}
