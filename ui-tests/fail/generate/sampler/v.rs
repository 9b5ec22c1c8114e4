//! A sampler chooses tokens of its own vocabulary.
//! Covers `V` of `generate::Sampler`.
//! Right with `Sounds` for `Letters` in line 9.
use typed_transformer::{generate::Sampler, prelude::*};

dims! { Letters = 28; Sounds = 44; }

fn choose(sampler: &mut Sampler<Sounds>, logits: &Tensor<(Sounds,), f32, Cpu>) {
    let _letter: Result<Fin<Letters>, OpError> = sampler.choose(logits);
}

fn main() {}
