//! The dimensions of a GPT-2 come from its configuration.
//! Covers `Self` of `models::gpt2::Gpt2Config`.
//! Right with `Small` for `Other` in line 8.
use typed_transformer::{models::gpt2::{Gpt2, Gpt2Config}, prelude::*};

struct Other;

fn count<Small: Gpt2Config>(model: &Gpt2<Other, f32, Cpu>) {
    let _model = model;
}

fn main() {}
