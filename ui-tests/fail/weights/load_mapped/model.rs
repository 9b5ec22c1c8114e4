//! Weights with mapped names are loaded into the model of their name map.
//! Covers `Model` of `weights::load_mapped`.
//! Right with `Letters` for `Sounds` in line 11.
use typed_transformer::{weights, nn::Linear, prelude::*};

dims! { EmbedDim = 8; Letters = 28; Sounds = 28; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn open(names: &weights::NameMap, device: &Cpu) -> Result<(), weights::LoadError> {
    let _logit: LmHead<Letters> = weights::load_mapped::<LmHead<Sounds>, _, _>("flax", names, device)?;
    Ok(())
}

fn main() {}
