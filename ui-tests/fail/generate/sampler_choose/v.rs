//! Logits over another vocabulary are not sampled as tokens of this one.
//! Right with `Sounds` for `Letters` in line 7.
use typed_transformer::{generate::Sampler, prelude::*};

dims! { Letters = 28; Sounds = 44; }

fn choose(sampler: &mut Sampler<Sounds>, logits: &Tensor<(Letters,), f32, Cpu>) -> Result<Fin<Sounds>, OpError> {
    sampler.choose(logits)
}

fn main() {}
