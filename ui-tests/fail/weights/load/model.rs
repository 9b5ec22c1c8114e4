//! Weights are loaded into the model that is used.
//! Covers `Model` of `weights::load`.
//! Right with `Letters` for `Sounds` in line 11.
use typed_transformer::{weights, nn::Linear, prelude::*};

dims! { EmbedDim = 8; Letters = 28; Sounds = 28; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn open(device: &Cpu) -> Result<(), weights::LoadError> {
    let _logit: LmHead<Letters> = weights::load::<LmHead<Sounds>, _, _>("letters.safetensors", device)?;
    Ok(())
}

fn main() {}
