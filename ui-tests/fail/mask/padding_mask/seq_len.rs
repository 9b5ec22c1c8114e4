//! A padding mask belongs to one sequence length.
//! Covers `SeqLen` of `mask::PaddingMask`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; Batch; }

fn sizes(padding: &PaddingMask<Batch, TgtLen>) -> (Batch, SrcLen) {
    padding.shape()
}

fn main() {}
