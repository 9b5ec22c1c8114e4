//! A trainer learns from a loss of the model that it updates.
//! Covers `Model` of `train::Trainer::learn`.
//! Right with `Letters` for `Sounds` in line 13.
use typed_transformer::{nn::Linear, train::*, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn learn(
    trainer: &mut Trainer<Adam<LmHead<Letters>, f32>, f64>,
    model: &mut LmHead<Letters>,
    loss: Tensor<(), f32, Cpu, Recording<LmHead<Sounds>>>,
) -> Result<StepReport, TrainError> {
    trainer.learn(model, loss, 50)
}

fn main() {}
