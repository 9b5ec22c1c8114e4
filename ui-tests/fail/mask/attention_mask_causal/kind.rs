//! A causal mask has a mask kind that shows no later position.
//! Covers `Kind` of `mask::AttentionMask::causal`.
//! Right with `CausalMask` for `NoMask` in line 9.
use typed_transformer::prelude::*;

dims! { NewLen = 2; AllLen = 5; Batch; }

fn mask(batch: Batch) -> AttentionMask<Batch, NewLen, AllLen> {
    AttentionMask::causal::<NoMask>((batch, NewLen, AllLen), 3)
}

fn main() {}
