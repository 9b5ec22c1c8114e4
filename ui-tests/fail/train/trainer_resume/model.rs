//! A trainer resumes the model that its optimizer state belongs to.
//! Covers `Model` of `train::Trainer::resume`.
//! Right with `Letters` for `Sounds` in line 11.
use typed_transformer::{nn::Linear, prelude::*, train::Adam, train::ResumeError, train::Trainer};

dims! { EmbedDim = 8; Letters = 28; Sounds = 28; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn resume(
    trainer: &mut Trainer<Adam<LmHead<Sounds>, f32>, f64>,
    device: &Cpu,
) -> Result<(), ResumeError> {
    let _logit: LmHead<Letters> = trainer.resume("letters.safetensors", device)?;
    Ok(())
}

fn main() {}
