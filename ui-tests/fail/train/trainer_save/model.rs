//! A trainer saves the model that its optimizer state belongs to.
//! Covers `Model` of `train::Trainer::save`.
//! Right with `Letters` for `Sounds` in line 12.
use typed_transformer::{weights::SaveError, nn::Linear, train::*, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn store(
    trainer: &Trainer<Adam<LmHead<Letters>, f32>, f64>,
    model: &LmHead<Sounds>,
) -> Result<(), SaveError> {
    trainer.save(model, "letters.safetensors")
}

fn main() {}
