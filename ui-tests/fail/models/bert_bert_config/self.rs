//! The dimensions of a BERT come from its configuration.
//! Covers `Self` of `models::bert::BertConfig`.
//! Right with `Small` for `Other` in line 8.
use typed_transformer::{models::bert::{Bert, BertConfig}, prelude::*};

struct Other;

fn count<Small: BertConfig>(model: &Bert<Other, f32, Cpu>) {
    let _model = model;
}

fn main() {}
