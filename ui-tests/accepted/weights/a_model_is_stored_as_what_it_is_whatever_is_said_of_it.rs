//! A model is stored as what it is, whatever is said of it beside its weights.
//! Proves `Model` of `weights::save_with_metadata`.
use std::collections::HashMap;
use typed_transformer::{weights, nn::Linear, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn store(logit: &LmHead<Letters>, said: HashMap<String, String>) -> Result<(), weights::SaveError> {
    weights::save_with_metadata::<LmHead<Letters>, _, _>(logit, "logit.safetensors", said)
}

fn main() {}
