//! The weights of one size of Llama are not those of another.
//! Covers `Config` of `models::llama::Attention`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::llama::{Attention, LlamaConfig}, prelude::*};

fn replace<Small: LlamaConfig, Large: LlamaConfig>(module: &mut Attention<Small, f32, Cpu>, other: Attention<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
