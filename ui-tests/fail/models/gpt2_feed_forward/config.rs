//! The weights of one size of GPT-2 are not those of another.
//! Covers `Config` of `models::gpt2::FeedForward`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::gpt2::{FeedForward, Gpt2Config}, prelude::*};

fn replace<Small: Gpt2Config, Large: Gpt2Config>(module: &mut FeedForward<Small, f32, Cpu>, other: FeedForward<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
