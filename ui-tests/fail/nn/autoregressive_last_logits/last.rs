//! The logits are those of as many tokens as the model is asked for.
//! Covers `Last` of `nn::Autoregressive::last_logits`.
//! Right with `Proposals` for the second `SrcLen` in line 15.
//! Mutants cover `S` by `SrcLen` of `nn::Autoregressive::last_logits`.
use typed_transformer::{nn::Autoregressive, prelude::*};

dims! { Letters = 28; SrcLen = 5; Proposals = 3; Batch; }

fn check<Model: Autoregressive<Batch, f32, Cpu, VocabSize = Letters>>(
    model: &Model,
    cache: &mut Model::Cache,
    tokens: &TokenIds<Batch, SrcLen, Letters>,
    proposals: Proposals,
) {
    let _logits = model.last_logits::<SrcLen, SrcLen>(tokens, cache, proposals);
}

fn main() {}
