//! The weights of one size of Vision Transformer are not those of another.
//! Covers `Config` of `models::vit::Embeddings`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::vit::{Embeddings, VitConfig}, prelude::*};

fn replace<Small: VitConfig, Large: VitConfig>(module: &mut Embeddings<Small, f32, Cpu>, other: Embeddings<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
