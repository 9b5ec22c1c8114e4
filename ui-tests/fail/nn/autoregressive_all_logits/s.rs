//! A model has the logits of as many tokens as there are.
//! Covers `S` of `nn::Autoregressive::all_logits`.
//! Right with `SrcLen` for `TgtLen` in line 13.
use typed_transformer::{nn::Autoregressive, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; Batch; }

fn check<Model: Autoregressive<Batch, f32, Cpu, VocabSize = Letters>>(
    model: &Model,
    cache: &mut Model::Cache,
    tokens: &TokenIds<Batch, SrcLen, Letters>,
) {
    let _logits = model.all_logits::<TgtLen>(tokens, cache);
}

fn main() {}
