//! A cross-attention mask is built from queries and keys of one batch.
//! Covers `Batch` of `mask::mk_cross_mask`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

fn mask(
    target_padding: &PaddingMask<Batch, TgtLen>,
    source_padding: &PaddingMask<OtherBatch, SrcLen>,
) -> Result<AttentionMask<Batch, TgtLen, SrcLen>, DimError> {
    mk_cross_mask::<PadSourceKeys, _, _, _>(target_padding, source_padding)
}

fn main() {}
