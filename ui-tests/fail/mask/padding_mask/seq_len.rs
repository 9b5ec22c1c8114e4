//! A padding mask belongs to one sequence length.
//! Covers `SeqLen` of `mask::PaddingMask`.
//! Right with `SrcLen` for `TgtLen` in line 9.
//! Mutants cover `Batch` by `Batch` of `mask::PaddingMask`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; Batch; }

fn sizes(padding: &PaddingMask<Batch, TgtLen>) -> (Batch, SrcLen) {
    padding.shape()
}

fn main() {}
