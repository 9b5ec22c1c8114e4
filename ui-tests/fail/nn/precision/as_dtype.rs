//! A model computes in its dtype; the precision of its weights stands behind dtype and device.
//! Right with `f32` for `Bf16` in line 5.
use typed_transformer::{models::published::gpt2, nn::Bf16, prelude::*};

fn f(_: &gpt2::Model<Bf16, Cpu>) {}

fn main() {}
