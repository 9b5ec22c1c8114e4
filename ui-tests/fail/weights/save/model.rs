//! A file stores the model that was passed, not another model.
//! Covers `Model` of `weights::save`.
//! Right with `Letters` for `Sounds` in line 9.
use typed_transformer::{weights, nn::Linear, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

fn store(logit: &Linear<EmbedDim, Letters, f32, Cpu>) -> Result<(), weights::SaveError> {
    weights::save::<Linear<EmbedDim, Sounds, f32, Cpu>, _, _>(logit, "logit.safetensors")
}

fn main() {}
