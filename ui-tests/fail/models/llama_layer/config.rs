//! The weights of one size of Llama are not those of another.
//! Covers `Config` of `models::llama::Layer`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::llama::{Layer, LlamaConfig}, prelude::*};

fn replace<Small: LlamaConfig, Large: LlamaConfig>(module: &mut Layer<Small, f32, Cpu>, other: Layer<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
