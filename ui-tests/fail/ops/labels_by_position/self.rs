//! A mask has no labels.
//! Covers `Self` of `ops::LabelsByPosition`.
//! Right with `labels` for `padding` in line 10.
use typed_transformer::{ops::LabelsByPosition, prelude::*};

dims! { Letters = 28; SeqLen; Batch; }

fn count(_: &impl LabelsByPosition<(Batch, SeqLen), Letters>) {}
fn loss(labels: &LabelIds<Batch, SeqLen, Letters>, padding: &PaddingMask<Batch, SeqLen>) {
    count(padding);
}

fn main() {}
