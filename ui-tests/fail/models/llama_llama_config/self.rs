//! The dimensions of a Llama come from its configuration.
//! Covers `Self` of `models::llama::LlamaConfig`.
//! Right with `Small` for `Other` in line 8.
use typed_transformer::{models::llama::{Llama, LlamaConfig}, prelude::*};

struct Other;

fn count<Small: LlamaConfig>(model: &Llama<Other, f32, Cpu>) {
    let _model = model;
}

fn main() {}
