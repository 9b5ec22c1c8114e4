//! Tokens are padded to their own length.
//! Proves `SeqLen` of `tokens::TokenIds`.
use typed_transformer::prelude::*;

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; Batch; }

fn real(ids: &TokenIds<Batch, TgtLen, Letters>) -> PaddingMask<Batch, SrcLen> {
    ids.padding_mask()
}

fn main() {}
