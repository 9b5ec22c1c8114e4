//! A file with metadata stores the model that was passed, not another model.
//! Covers `Model` of `weights::save_with_metadata`.
//! Right with `Letters` for `Sounds` in line 12.
use std::collections::HashMap;
use typed_transformer::{weights, nn::Linear, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn store(logit: &LmHead<Letters>, said: HashMap<String, String>) -> Result<(), weights::SaveError> {
    weights::save_with_metadata::<LmHead<Sounds>, _, _>(logit, "logit.safetensors", said, false)
}

fn main() {}
