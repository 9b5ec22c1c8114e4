//! Token ids keep the batch that they were made for.
//! Covers `Batch` of `tokens::TokenIds`.
//! Right with `Batch` for `OtherBatch` in line 8.
use typed_transformer::prelude::*;

dims! { Letters = 28; SrcLen = 5; Batch; OtherBatch; }

fn real(ids: &TokenIds<OtherBatch, SrcLen, Letters>) -> PaddingMask<Batch, SrcLen> {
    ids.padding_mask()
}

fn main() {}
