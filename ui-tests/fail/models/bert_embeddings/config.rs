//! The weights of one size of BERT are not those of another.
//! Covers `Config` of `models::bert::Embeddings`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::bert::{BertConfig, Embeddings}, prelude::*};

fn replace<Small: BertConfig, Large: BertConfig>(module: &mut Embeddings<Small, f32, Cpu>, other: Embeddings<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
