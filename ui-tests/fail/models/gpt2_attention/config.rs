//! The weights of one size of GPT-2 are not those of another.
//! Covers `Config` of `models::gpt2::Attention`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::gpt2::{Attention, Gpt2Config}, prelude::*};

fn replace<Small: Gpt2Config, Large: Gpt2Config>(module: &mut Attention<Small, f32, Cpu>, other: Attention<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
