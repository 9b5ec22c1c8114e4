//! The weights of one size of BERT are not those of another.
//! Covers `Config` of `models::bert::Bert`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::bert::{Bert, BertConfig}, prelude::*};

fn replace<Small: BertConfig, Large: BertConfig>(module: &mut Bert<Small, f32, Cpu>, other: Bert<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
