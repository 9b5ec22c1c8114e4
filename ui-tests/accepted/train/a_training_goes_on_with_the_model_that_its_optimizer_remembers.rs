//! A training goes on with the model that its optimizer remembers, not with another of the same size.
//! Proves `Model` of `train::Trainer::resume`.
use typed_transformer::{nn::Linear, prelude::*, train::Adam, train::Constant, train::ResumeError, train::Trainer};

dims! { EmbedDim = 8; Letters = 28; Sounds = 28; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn resume(
    trainer: &mut Trainer<Adam<LmHead<Letters>, f32>, Constant>,
    device: &Cpu,
) -> Result<(), ResumeError> {
    let _logit: LmHead<Letters> = trainer.resume("letters.safetensors", device)?;
    Ok(())
}

fn main() {}
