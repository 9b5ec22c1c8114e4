//! Padding is of one length.
//! Proves `SeqLen` of `mask::PaddingMask`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; Batch; }

fn sizes(padding: &PaddingMask<Batch, SrcLen>) -> (Batch, SrcLen) {
    padding.shape()
}

fn main() {}
