//! The dimensions of a Gemma 3 come from its configuration.
//! Covers `Self` of `models::gemma3::Gemma3Config`.
//! Right with `Small` for `Other` in line 11.
use typed_transformer::{
    models::gemma3::{Gemma3, Gemma3Config},
    prelude::*,
};

struct Other;

fn count<Small: Gemma3Config>(model: &Gemma3<Other, f32, Cpu>) {
    let _model = model;
}

fn main() {}
