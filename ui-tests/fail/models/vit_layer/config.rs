//! The weights of one size of Vision Transformer are not those of another.
//! Covers `Config` of `models::vit::Layer`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::vit::{Layer, VitConfig}, prelude::*};

fn replace<Small: VitConfig, Large: VitConfig>(module: &mut Layer<Small, f32, Cpu>, other: Layer<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
