//! A trainer updates the model that its optimizer state belongs to.
//! Covers `Model` of `train::Trainer::update`.
//! Right with `Letters` for `Sounds` in line 12.
use typed_transformer::{nn::Linear, train::*, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn learn(
    trainer: &mut Trainer<Adam<LmHead<Letters>, f32>, f64>,
    model: &mut LmHead<Sounds>,
    gradients: GradientsOf<LmHead<Letters>, f32, Cpu>,
) -> Result<StepReport, TrainError> {
    trainer.update(model, gradients, 1.0, 50)
}

fn main() {}
