//! The weights of one size of GPT-2 are not those of another.
//! Covers `Config` of `models::gpt2::Gpt2`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::gpt2::{Gpt2, Gpt2Config}, prelude::*};

fn replace<Small: Gpt2Config, Large: Gpt2Config>(module: &mut Gpt2<Small, f32, Cpu>, other: Gpt2<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
