//! The dimensions of a ModernBERT come from its configuration.
//! Covers `Self` of `models::modern_bert::ModernBertConfig`.
//! Right with `Small` for `Other` in line 11.
use typed_transformer::{
    models::modern_bert::{ModernBert, ModernBertConfig},
    prelude::*,
};

struct Other;

fn count<Small: ModernBertConfig>(model: &ModernBert<Other, f32, Cpu>) {
    let _model = model;
}

fn main() {}
