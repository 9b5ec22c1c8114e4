//! A model is stored as what it is.
//! Proves `Model` of `weights::save`.
use typed_transformer::{weights, nn::Linear, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

fn store(logit: &Linear<EmbedDim, Letters, f32, Cpu>) -> Result<(), weights::SaveError> {
    weights::save::<Linear<EmbedDim, Sounds, f32, Cpu>, _, _>(logit, "logit.safetensors")
}

fn main() {}
