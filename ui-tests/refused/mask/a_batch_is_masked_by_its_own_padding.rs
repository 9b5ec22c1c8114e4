//! A batch is masked by its own padding.
//! Proves `Batch` of `mask::mk_mask`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; Batch; OtherBatch; }

fn mask(
    padding: &PaddingMask<OtherBatch, SrcLen>,
) -> AttentionMask<Batch, SrcLen, SrcLen> {
    mk_mask::<NoMask, PadSourceKeys, _, _>(padding)
}

fn main() {}
