//! A trainer updates the model that its optimizer state belongs to.
//! Covers `Model` of `train::Trainer::update_replicated`.
//! Right with `Letters` for `Sounds` in line 21.
//! Mutants cover `W` by `World` of `train::Trainer::update_replicated`.
use typed_transformer::{
    nn::Linear,
    prelude::*,
    ranks,
    ranks::{Partial, Ranks, Replicated},
    train::{Adam, GradientsOf, StepReport, TrainError, Trainer},
};

ranks! { World; Data; }
dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn learn(
    trainer: &mut Trainer<Adam<LmHead<Letters>, f32>, f64>,
    world: &Ranks<World>,
    model: &mut Replicated<LmHead<Sounds>, World>,
    gradients: Replicated<GradientsOf<LmHead<Letters>, f32, Cpu>, World>,
    loss: Partial<f64, World>,
) -> Result<StepReport, TrainError> {
    trainer.update_replicated(world, model, gradients, loss, 50)
}

fn main() {}
