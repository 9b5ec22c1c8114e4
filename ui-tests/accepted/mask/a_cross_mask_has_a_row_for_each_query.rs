//! A cross mask has a row for each query.
//! Proves `QLen` of `mask::mk_cross_mask`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; OtherLen = 6; Batch; }

fn mask(
    target_padding: &PaddingMask<Batch, TgtLen>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Result<AttentionMask<Batch, TgtLen, SrcLen>, DimError> {
    mk_cross_mask::<PadSourceKeys, _, _, _>(target_padding, source_padding)
}

fn main() {}
