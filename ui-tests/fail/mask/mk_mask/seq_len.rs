//! A self-attention mask is built from the padding of its own sequence.
//! Covers `SeqLen` of `mask::mk_mask`.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; Batch; }

fn mask(
    padding: &PaddingMask<Batch, TgtLen>,
) -> AttentionMask<Batch, SrcLen, SrcLen> {
    mk_mask::<NoMask, PadSourceKeys, _, _>(padding)
}

fn main() {}
