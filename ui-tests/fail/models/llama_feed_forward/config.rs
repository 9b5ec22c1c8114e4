//! The weights of one size of Llama are not those of another.
//! Covers `Config` of `models::llama::FeedForward`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::llama::{FeedForward, LlamaConfig}, prelude::*};

fn replace<Small: LlamaConfig, Large: LlamaConfig>(module: &mut FeedForward<Small, f32, Cpu>, other: FeedForward<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
