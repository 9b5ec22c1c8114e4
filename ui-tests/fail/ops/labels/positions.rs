//! Labels have the positions that a loss asks for.
//! Covers `Positions` of `ops::Labels`.
//! Right with `Batch` for `Other` in line 9.
use typed_transformer::{ops::Labels, prelude::*, tokens::Indices};

dims! { Letters = 28; Sounds = 28; Batch; Other; }

fn count(_: &impl Labels<(Batch,), Letters>) {}
fn loss(labels: &Indices<(Other,), Letters>) {
    count(labels);
}

fn main() {}
