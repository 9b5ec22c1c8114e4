//! The weights of one size of BERT are not those of another.
//! Covers `Config` of `models::bert::FeedForward`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::bert::{BertConfig, FeedForward}, prelude::*};

fn replace<Small: BertConfig, Large: BertConfig>(module: &mut FeedForward<Small, f32, Cpu>, other: FeedForward<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
