//! The tokens that end a text are a list, such as `Some(end)`, and not one token.
//! Right with `ends` for `end` in line 14.
use typed_transformer::{generate::{Generation, Sampler}, nn::Autoregressive, prelude::*};

dims! { Letters = 28; Prompt = 5; Batch; }

fn write<Model: Autoregressive<Batch, f32, Cpu, VocabSize = Letters>>(
    model: &Model,
    prompt: &TokenIds<Batch, Prompt, Letters>,
    end: Fin<Letters>,
    sampler: &mut Sampler<Letters>,
) {
    let ends = Some(end);
    let _texts = Generation::new(model, prompt, end, sampler);
}

fn main() {}
