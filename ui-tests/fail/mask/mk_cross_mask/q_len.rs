//! A cross-attention mask has one row per query.
//! Covers `QLen` of `mask::mk_cross_mask`.
//! Right with `TgtLen` for `OtherLen` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; OtherLen = 6; Batch; }

fn mask(
    target_padding: &PaddingMask<Batch, OtherLen>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Result<AttentionMask<Batch, TgtLen, SrcLen>, DimError> {
    mk_cross_mask::<PadSourceKeys, _, _, _>(target_padding, source_padding)
}

fn main() {}
