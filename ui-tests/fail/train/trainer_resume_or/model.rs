//! A trainer begins with the model that its optimizer state belongs to.
//! Covers `Model` of `train::Trainer::resume_or`.
//! Right with `Sounds` for `Letters` in line 14.
use typed_transformer::{nn::Linear, prelude::*, train::Adam, train::ResumeError, train::Trainer};

dims! { EmbedDim = 8; Letters = 28; Sounds = 28; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn begin(
    trainer: &mut Trainer<Adam<LmHead<Sounds>, f32>, f64>,
    device: &Cpu,
) -> Result<(), ResumeError> {
    let _logit = trainer.resume_or("sounds", device, || LmHead::<Letters>::build(device))?;
    Ok(())
}

fn main() {}
