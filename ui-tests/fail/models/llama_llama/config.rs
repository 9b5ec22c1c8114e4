//! The weights of one size of Llama are not those of another.
//! Covers `Config` of `models::llama::Llama`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::llama::{Llama, LlamaConfig}, prelude::*};

fn replace<Small: LlamaConfig, Large: LlamaConfig>(module: &mut Llama<Small, f32, Cpu>, other: Llama<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
