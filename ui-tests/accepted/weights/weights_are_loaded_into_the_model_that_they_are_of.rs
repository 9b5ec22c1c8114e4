//! A model is not read from a file as one and used as another.
//! Proves `Model` of `weights::load`.
use typed_transformer::{weights, nn::Linear, prelude::*};

dims! { EmbedDim = 8; Letters = 28; Sounds = 28; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn open(device: &Cpu) -> Result<(), weights::LoadError> {
    let _logit: LmHead<Letters> = weights::load::<LmHead<Letters>, _, _>("letters.safetensors", device)?;
    Ok(())
}

fn main() {}
