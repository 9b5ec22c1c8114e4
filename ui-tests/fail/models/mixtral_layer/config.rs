//! The weights of one size of Mixtral are not those of another.
//! Covers `Config` of `models::mixtral::Layer`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::mixtral::{Layer, MixtralConfig}, prelude::*};

fn replace<Small: MixtralConfig, Large: MixtralConfig>(module: &mut Layer<Small, f32, Cpu>, other: Layer<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
