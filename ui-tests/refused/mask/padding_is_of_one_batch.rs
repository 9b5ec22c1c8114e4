//! Padding is of one batch.
//! Proves `Batch` of `mask::PaddingMask`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; Batch; OtherBatch; }

fn sizes(padding: &PaddingMask<OtherBatch, SrcLen>) -> (Batch, SrcLen) {
    padding.shape()
}

fn main() {}
