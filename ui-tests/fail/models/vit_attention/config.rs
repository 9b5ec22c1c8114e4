//! The weights of one size of Vision Transformer are not those of another.
//! Covers `Config` of `models::vit::Attention`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::vit::{Attention, VitConfig}, prelude::*};

fn replace<Small: VitConfig, Large: VitConfig>(module: &mut Attention<Small, f32, Cpu>, other: Attention<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
