//! A text is at most as long as its model reads.
//! Covers `MaxSeqLen` of `nn::Autoregressive`.
//! Right with `MaxLen` for `ShortLen` in line 9.
//! Mutants cover `B` by `Batch`, `VocabSize` by `Letters` of `nn::Autoregressive`.
use typed_transformer::{generate::{Sampler, generate_from_prompt}, nn::Autoregressive, prelude::*};

dims! { Letters = 28; MaxLen = 16; ShortLen = 8; Prompt = 5; Batch; }

trait Writer: Autoregressive<Batch, f32, Cpu, VocabSize = Letters, MaxSeqLen = ShortLen> {}

fn write<Model: Writer>(model: &Model, prompt: &TokenIds<Batch, Prompt, Letters>) {
    let _text = generate_from_prompt(model, prompt, None, MaxLen, &mut Sampler::greedy()).unwrap();
}

fn main() {}
