//! A trainer saves the model that its optimizer remembers.
//! Proves `Model` of `train::Trainer::save`.
use typed_transformer::{io::SaveError, nn::Linear, train::*, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type Logit<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn store(
    trainer: &Trainer<Adam<Logit<Letters>, f32>, Constant>,
    model: &Logit<Sounds>,
) -> Result<(), SaveError> {
    trainer.save(model, "letters.safetensors")
}

fn main() {}
