//! A cross-attention mask has one column per key.
//! Covers `KLen` of `mask::mk_cross_mask`.
//! Right with `SrcLen` for `OtherLen` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; OtherLen = 6; Batch; }

fn mask(
    target_padding: &PaddingMask<Batch, TgtLen>,
    source_padding: &PaddingMask<Batch, OtherLen>,
) -> Result<AttentionMask<Batch, TgtLen, SrcLen>, DimError> {
    mk_cross_mask::<PadSourceKeys, _, _, _>(target_padding, source_padding)
}

fn main() {}
