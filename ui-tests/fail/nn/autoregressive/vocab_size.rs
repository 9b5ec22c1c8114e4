//! A model reads tokens of its own vocabulary.
//! Covers `VocabSize` of `nn::Autoregressive`.
//! Right with `Letters` for `Sounds` in line 11.
use typed_transformer::{nn::Autoregressive, prelude::*};

dims! { Letters = 28; Sounds = 28; Batch; }

fn next<Model: Autoregressive<Batch, f32, Cpu, VocabSize = Letters>>(
    model: &Model,
    cache: &mut Model::Cache,
    tokens: &TokenIds<Batch, Const<1>, Sounds>,
) -> Result<Tensor<(Batch, Letters), f32, Cpu>, OpError> {
    model.try_next_logits(tokens, cache)
}

fn main() {}
