//! The weights of one size of BERT are not those of another.
//! Covers `Config` of `models::bert::Attention`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::bert::{Attention, BertConfig}, prelude::*};

fn replace<Small: BertConfig, Large: BertConfig>(module: &mut Attention<Small, f32, Cpu>, other: Attention<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
