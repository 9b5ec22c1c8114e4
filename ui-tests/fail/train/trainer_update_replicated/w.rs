//! The ranks that make an update are those that have the model.
//! Covers `W` of `train::Trainer::update_replicated`.
//! Right with `World` for `Data` in line 20.
use typed_transformer::{
    nn::Linear,
    prelude::*,
    ranks,
    ranks::{Partial, Ranks, Replicated},
    train::{Adam, Constant, GradientsOf, StepReport, TrainError, Trainer},
};

ranks! { World; Data; }
dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn learn(
    trainer: &mut Trainer<Adam<LmHead<Letters>, f32>, Constant>,
    world: &Ranks<World>,
    model: &mut Replicated<LmHead<Letters>, Data>,
    gradients: Replicated<GradientsOf<LmHead<Letters>, f32, Cpu>, World>,
    loss: Partial<f64, World>,
) -> Result<StepReport, TrainError> {
    trainer.update_replicated(world, model, gradients, loss, 50)
}

fn main() {}
