//! A trainer saves the model that its optimizer remembers.
//! Proves `Model` of `train::Trainer::save`.
use typed_transformer::{weights::SaveError, nn::Linear, train::*, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn store(
    trainer: &Trainer<Adam<LmHead<Letters>, f32>, Constant>,
    model: &LmHead<Letters>,
) -> Result<(), SaveError> {
    trainer.save(model, "letters.safetensors")
}

fn main() {}
