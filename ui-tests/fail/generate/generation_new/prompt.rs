//! A generation reads a prompt of any length, once it is named.
//! Covers `Prompt` of `generate::Generation::new`.
//! Right with `SrcLen` for `TgtLen` in line 13.
use typed_transformer::{generate::{Generation, Sampler}, nn::Autoregressive, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; Batch; }

fn write<Model: Autoregressive<Batch, f32, Cpu, VocabSize = Letters>>(
    model: &Model,
    prompt: &TokenIds<Batch, SrcLen, Letters>,
    sampler: &mut Sampler<Letters>,
) {
    let _texts = Generation::new::<TgtLen>(model, prompt, None, sampler);
}

fn main() {}
