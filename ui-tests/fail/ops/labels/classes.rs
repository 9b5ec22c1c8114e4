//! Labels are indices of the classes that a loss asks for.
//! Covers `Classes` of `ops::Labels`.
//! Right with `Letters` for `Sounds` in line 10.
//! Mutants cover `Positions` by `Batch` of `ops::Labels`.
use typed_transformer::{ops::Labels, prelude::*, tokens::Indices};

dims! { Letters = 28; Sounds = 28; Batch; Other; }

fn count(_: &impl Labels<(Batch,), Letters>) {}
fn loss(labels: &Indices<(Batch,), Sounds>) {
    count(labels);
}

fn main() {}
