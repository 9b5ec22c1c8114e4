//! Labels of each position are indices of the classes that a loss asks for.
//! Covers `Classes` of `ops::LabelsByPosition`.
//! Right with `Letters` for `Sounds` in line 10.
//! Mutants cover `Positions` by `Batch` of `ops::LabelsByPosition`.
use typed_transformer::{ops::LabelsByPosition, prelude::*, tokens::Indices};

dims! { Letters = 28; Sounds = 28; Batch; Other; }

fn count(_: &impl LabelsByPosition<(Batch,), Letters>) {}
fn loss(labels: &Indices<(Batch,), Sounds>) {
    count(labels);
}

fn main() {}
