//! Token ids keep the sequence length that they were made for.
//! Covers `SeqLen` of `tokens::TokenIds`.
//! Right with `SrcLen` for `TgtLen` in line 9.
//! Mutants cover `Batch` by `Batch` of `tokens::TokenIds`.
use typed_transformer::prelude::*;

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; Batch; }

fn real(ids: &TokenIds<Batch, TgtLen, Letters>) -> PaddingMask<Batch, SrcLen> {
    ids.padding_mask()
}

fn main() {}
