//! A model has one precision.
//! Covers `P` of `models::gpt2::Gpt2`.
//! Right with `Q8` for `FullPrecision` in line 6.
use typed_transformer::{models::gpt2::{Gpt2, Gpt2Config}, nn::{FullPrecision, Q8}, prelude::*};

fn replace<Config: Gpt2Config>(small: &mut Gpt2<Config, f32, Cpu, Q8>, model: Gpt2<Config, f32, Cpu, FullPrecision>) {
    *small = model;
}

fn main() {}
