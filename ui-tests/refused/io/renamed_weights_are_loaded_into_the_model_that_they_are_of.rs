//! A model is not read from a file of other names as one and used as another.
//! Proves `Model` of `io::load_renamed`.
use typed_transformer::{io, nn::Linear, prelude::*};

dims! { EmbedDim = 8; Letters = 28; Sounds = 28; }

type Logit<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn open(names: &io::Names, device: &Cpu) -> Result<(), io::LoadError> {
    let _logit: Logit<Letters> = io::load_renamed::<Logit<Sounds>, _, _>("flax", names, device)?;
    Ok(())
}

fn main() {}
