//! A sampler chooses tokens of its own vocabulary.
//! Covers `V` of `generate::Sampler`.
//! Right with `Letters` for `Sounds` in line 8.
use typed_transformer::{generate::Sampler, prelude::*};

dims! { Letters = 28; Sounds = 44; }

fn choose(sampler: &mut Sampler<Sounds>, logits: &[f32]) {
    let _letter: Result<Fin<Letters>, OpError> = sampler.choose(logits);
}

fn main() {}
