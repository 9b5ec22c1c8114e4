//! Tokens are padded in their own batch.
//! Proves `Batch` of `tokens::TokenIds`.
use typed_transformer::prelude::*;

dims! { Letters = 28; SrcLen = 5; Batch; OtherBatch; }

fn real(ids: &TokenIds<Batch, SrcLen, Letters>) -> PaddingMask<Batch, SrcLen> {
    ids.padding_mask()
}

fn main() {}
