//! The weights of one size of Mixtral are not those of another.
//! Covers `Config` of `models::mixtral::MixtureOfExperts`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::mixtral::{MixtralConfig, MixtureOfExperts}, prelude::*};

fn replace<Small: MixtralConfig, Large: MixtralConfig>(module: &mut MixtureOfExperts<Small, f32, Cpu>, other: MixtureOfExperts<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
