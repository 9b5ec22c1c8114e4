//! An optimizer is of one model.
//! Proves `Model` of `train::Optimizer`.
use typed_transformer::{nn::Linear, train::{Adam, Optimizer}, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

fn optimizes<O: Optimizer<Linear<EmbedDim, Letters, f32, Cpu>, f32>>() {}

const _: fn() = optimizes::<Adam<Linear<EmbedDim, Letters, f32, Cpu>, f32>>;

fn main() {}
