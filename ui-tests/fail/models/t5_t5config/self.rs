//! The dimensions of a T5 come from its configuration.
//! Covers `Self` of `models::t5::T5Config`.
//! Right with `Small` for `Other` in line 8.
use typed_transformer::{models::t5::{T5, T5Config}, prelude::*};

struct Other;

fn count<Small: T5Config>(model: &T5<Other, f32, Cpu>) {
    let _model = model;
}

fn main() {}
