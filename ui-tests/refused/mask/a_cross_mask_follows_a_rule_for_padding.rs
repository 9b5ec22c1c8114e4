//! A cross mask follows a rule for padding.
//! Proves `Padding` of `mask::mk_cross_mask`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; Batch; }

fn mask(
    target_padding: &PaddingMask<Batch, TgtLen>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Result<AttentionMask<Batch, TgtLen, SrcLen>, DimError> {
    mk_cross_mask::<CausalMask, _, _, _>(target_padding, source_padding)
}

fn main() {}
