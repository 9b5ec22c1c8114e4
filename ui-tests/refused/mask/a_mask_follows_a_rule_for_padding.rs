//! A mask follows a rule for padding.
//! Proves `Padding` of `mask::mk_mask`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; Batch; }

fn mask(padding: &PaddingMask<Batch, SrcLen>) -> AttentionMask<Batch, SrcLen, SrcLen> {
    mk_mask::<CausalMask, CausalMask, _, _>(padding)
}

fn main() {}
