//! The ranks get the state of an optimizer of the model.
//! Covers `Model` of `train::Trainer::replicate`.
//! Right with `Letters` for `Sounds` in line 18.
use typed_transformer::{
    nn::Linear,
    prelude::*,
    ranks,
    ranks::{Ranks, RanksError},
    train::{Adam, Constant, Trainer},
};

ranks! { World; Data; }
dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn resume(
    trainer: &mut Trainer<Adam<LmHead<Sounds>, f32>, Constant>,
    world: &Ranks<World>,
) -> Result<(), RanksError> {
    trainer.replicate::<LmHead<Letters>, f32, Cpu, World>(world, &Cpu::default())
}

fn main() {}
