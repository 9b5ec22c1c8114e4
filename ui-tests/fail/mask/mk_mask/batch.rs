//! A self-attention mask is built from the padding of its own batch.
//! Covers `Batch` of `mask::mk_mask`.
//! Right with `Batch` for `OtherBatch` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; Batch; OtherBatch; }

fn mask(
    padding: &PaddingMask<OtherBatch, SrcLen>,
) -> AttentionMask<Batch, SrcLen, SrcLen> {
    mk_mask::<NoMask, PadSourceKeys, _, _>(padding)
}

fn main() {}
