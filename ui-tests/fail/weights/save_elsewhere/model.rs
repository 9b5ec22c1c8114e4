//! A file at a second place stores the model that was passed, not another model.
//! Covers `Model` of `weights::save_elsewhere`.
//! Right with `Letters` for `Sounds` in line 12.
use std::{collections::HashMap, path::PathBuf};
use typed_transformer::{weights, nn::Linear, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn store(logit: &LmHead<Letters>, said: HashMap<String, String>) -> Result<PathBuf, weights::SaveError> {
    weights::save_elsewhere::<LmHead<Sounds>, _, _>(logit, "logit.safetensors", said)
}

fn main() {}
