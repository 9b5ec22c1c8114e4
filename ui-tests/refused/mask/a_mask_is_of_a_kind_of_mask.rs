//! A mask is of a kind of mask.
//! Proves `Kind` of `mask::mk_mask`.
//! Proves `Self` of `mask::MaskKind`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; Batch; }

fn mask(padding: &PaddingMask<Batch, SrcLen>) -> AttentionMask<Batch, SrcLen, SrcLen> {
    mk_mask::<PadQueriesAndKeys, PadSourceKeys, _, _>(padding)
}

fn main() {}
