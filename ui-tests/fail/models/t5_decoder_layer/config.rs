//! The weights of one size of T5 are not those of another.
//! Covers `Config` of `models::t5::DecoderLayer`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::t5::{DecoderLayer, T5Config}, prelude::*};

fn replace<Small: T5Config, Large: T5Config>(module: &mut DecoderLayer<Small, f32, Cpu>, other: DecoderLayer<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
