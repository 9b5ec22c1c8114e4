//! The weights of one size of Vision Transformer are not those of another.
//! Covers `Config` of `models::vit::FeedForward`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::vit::{FeedForward, VitConfig}, prelude::*};

fn replace<Small: VitConfig, Large: VitConfig>(module: &mut FeedForward<Small, f32, Cpu>, other: FeedForward<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
