//! An optimizer belongs to one model.
//! Covers `Model` of `train::Optimizer`.
//! Right with `Letters` for `Sounds` in line 10.
//! Mutants cover `Self` by `Letters` of `train::Optimizer`.
//! Mutants cover `Model` by `Letters` of `train::Adam`.
use typed_transformer::{nn::Linear, train::{Adam, Optimizer}, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

fn optimizes<O: Optimizer<Linear<EmbedDim, Sounds, f32, Cpu>, f32>>() {}

const _: fn() = optimizes::<Adam<Linear<EmbedDim, Letters, f32, Cpu>, f32>>;

fn main() {}
