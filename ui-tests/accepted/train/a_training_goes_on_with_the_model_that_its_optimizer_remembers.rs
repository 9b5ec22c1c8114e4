//! A training goes on with the model that its optimizer remembers, not with another of the same size.
use typed_transformer::{nn::Linear, prelude::*, train::Adam, train::Constant, train::ResumeError, train::Trainer};

dims! { EmbedDim = 8; Letters = 28; Sounds = 28; }

fn resume(
    trainer: &mut Trainer<Adam<Linear<EmbedDim, Letters, f32, Cpu>, f32>, Constant>,
    device: &Cpu,
) -> Result<Linear<EmbedDim, Letters, f32, Cpu>, ResumeError> {
    trainer.resume("letters.safetensors", device)
}

fn main() {}
