//! The precision of weights stands behind dtype and device.
//! Right with `Cpu` for `Bf16` in line 7.
use typed_transformer::{nn::{Bf16, Linear}, prelude::*};

dims! { Letters = 28; EmbedDim = 8; }

fn f(_: &Linear<EmbedDim, Letters, f32, Bf16>) {}

fn main() {}
