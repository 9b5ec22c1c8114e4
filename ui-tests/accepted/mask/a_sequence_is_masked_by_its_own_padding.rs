//! A sequence is masked by its own padding.
//! Proves `SeqLen` of `mask::mk_mask`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; Batch; }

fn mask(
    padding: &PaddingMask<Batch, SrcLen>,
) -> AttentionMask<Batch, SrcLen, SrcLen> {
    mk_mask::<NoMask, PadSourceKeys, _, _>(padding)
}

fn main() {}
