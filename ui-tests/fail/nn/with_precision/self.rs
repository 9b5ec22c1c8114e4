//! A module without a precision is not stored in another one.
//! Covers `Self` of `nn::WithPrecision`.
//! Right with `map` for `norm` in line 12.
use typed_transformer::{nn::{LayerNorm, Linear, WithPrecision}, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }

fn small<Model: WithPrecision<f32, Cpu>>(_: Model) {}

fn f(map: Linear<EmbedDim, HiddenDim, f32, Cpu>, norm: LayerNorm<EmbedDim, f32, Cpu>) {
    let _ = &map;
    small(norm);
}

fn main() {}
