//! The weights of one size of T5 are not those of another.
//! Covers `Config` of `models::t5::T5`.
//! Right with `Small` for the second `Large` in line 6.
use typed_transformer::{models::t5::{T5, T5Config}, prelude::*};

fn replace<Small: T5Config, Large: T5Config>(module: &mut T5<Small, f32, Cpu>, other: T5<Large, f32, Cpu>) {
    *module = other;
}

fn main() {}
