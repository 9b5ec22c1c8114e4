//! A generation with a sampler of its own reads a prompt of any length, once it is named.
//! Covers `Prompt` of `generate::Generation::with_own_sampler`.
//! Right with `SrcLen` for `TgtLen` in line 13.
use typed_transformer::{generate::{Generation, Sampler}, nn::Autoregressive, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; Batch; }

fn write<Model: Autoregressive<Batch, f32, Cpu, VocabSize = Letters>>(
    model: &Model,
    prompt: &TokenIds<Batch, SrcLen, Letters>,
    sampler: Sampler<Letters>,
) {
    let _texts = Generation::with_own_sampler::<TgtLen>(model, prompt, None, sampler);
}

fn main() {}
