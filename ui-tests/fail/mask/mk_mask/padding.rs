//! The padding rule of a self-attention mask is a `PaddingRule`.
//! Covers `Padding` of `mask::mk_mask`.
//! Right with `PadSourceKeys` for the second `CausalMask` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; Batch; }

fn mask(padding: &PaddingMask<Batch, SrcLen>) -> AttentionMask<Batch, SrcLen, SrcLen> {
    mk_mask::<CausalMask, CausalMask, _, _>(padding)
}

fn main() {}
