//! The weights of one size of Mixtral are not those of another.
//! Covers `Config` of `models::mixtral::Mixtral`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::mixtral::{Mixtral, MixtralConfig}, prelude::*};

fn replace<Small: MixtralConfig, Large: MixtralConfig>(module: &mut Mixtral<Small, f32, Cpu>, other: Mixtral<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
