//! A model is stored as what it is, whatever is said of it beside its weights.
//! Proves `Model` of `io::save_with_metadata`.
use std::collections::HashMap;
use typed_transformer::{io, nn::Linear, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type Logit<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn store(logit: &Logit<Letters>, said: HashMap<String, String>) -> Result<(), io::SaveError> {
    io::save_with_metadata::<Logit<Letters>, _, _>(logit, "logit.safetensors", said)
}

fn main() {}
