//! A model is not read from a file as one and used as another.
//! Proves `Model` of `io::load`.
use typed_transformer::{io, nn::Linear, prelude::*};

dims! { EmbedDim = 8; Letters = 28; Sounds = 28; }

type Logit<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn open(device: &Cpu) -> Result<(), io::LoadError> {
    let _logit: Logit<Letters> = io::load::<Logit<Letters>, _, _>("letters.safetensors", device)?;
    Ok(())
}

fn main() {}
