//! The weights of one size of BERT are not those of another.
//! Covers `Config` of `models::bert::Layer`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::bert::{BertConfig, Layer}, prelude::*};

fn replace<Small: BertConfig, Large: BertConfig>(module: &mut Layer<Small, f32, Cpu>, other: Layer<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
