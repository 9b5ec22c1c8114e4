//! Queries and keys of one batch are masked together.
//! Proves `Batch` of `mask::mk_cross_mask`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

fn mask(
    target_padding: &PaddingMask<Batch, TgtLen>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Result<AttentionMask<Batch, TgtLen, SrcLen>, DimError> {
    mk_cross_mask::<PadSourceKeys, _, _, _>(target_padding, source_padding)
}

fn main() {}
