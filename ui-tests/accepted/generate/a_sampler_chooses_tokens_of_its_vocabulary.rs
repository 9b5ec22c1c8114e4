//! A sampler chooses tokens of its vocabulary.
//! Proves `V` of `generate::Sampler`.
use typed_transformer::{generate::Sampler, prelude::*};

dims! { Letters = 28; Sounds = 44; }

fn choose(sampler: &mut Sampler<Letters>, logits: &[f32]) {
    let _letter: Result<Fin<Letters>, OpError> = sampler.choose(logits);
}

fn main() {}
