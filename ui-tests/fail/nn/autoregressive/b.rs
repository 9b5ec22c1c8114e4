//! A model that has read its sources writes a text for each of them.
//! Covers `B` of `nn::Autoregressive`.
//! Right with `Batch` for `OtherBatch` in line 11.
use typed_transformer::{nn::Autoregressive, prelude::*};

dims! { Letters = 28; Batch; OtherBatch; }

fn next<Model: Autoregressive<Batch, f32, Cpu, VocabSize = Letters>>(
    model: &Model,
    cache: &mut Model::Cache,
    tokens: &TokenIds<OtherBatch, Const<1>, Letters>,
) -> Result<Tensor<(Batch, Letters), f32, Cpu>, OpError> {
    model.try_next_logits(tokens, cache)
}

fn main() {}
