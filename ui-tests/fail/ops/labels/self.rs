//! A mask has no labels.
//! Covers `Self` of `ops::Labels`.
//! Right with `labels` for `padding` in line 10.
use typed_transformer::{ops::Labels, prelude::*};

dims! { Letters = 28; SeqLen; Batch; }

fn count(_: &impl Labels<(Batch, SeqLen), Letters>) {}
fn loss(labels: &LabelIds<Batch, SeqLen, Letters>, padding: &PaddingMask<Batch, SeqLen>) {
    count(padding);
}

fn main() {}
