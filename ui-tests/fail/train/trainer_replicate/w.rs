//! A training run is that of the ranks that resume it.
//! Covers `W` of `train::Trainer::replicate`.
//! Right with `World` for `Data` in line 20.
//! Mutants cover `Model` by `Letters` of `train::Trainer::replicate`.
use typed_transformer::{
    nn::Linear,
    prelude::*,
    ranks,
    ranks::{Ranks, RanksError},
    train::{Adam, Trainer},
};

ranks! { World; Data; }
dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn resume(
    trainer: &mut Trainer<Adam<LmHead<Letters>, f32>, f64>,
    ranks: &Ranks<Data>,
) -> Result<(), RanksError> {
    trainer.replicate::<LmHead<Letters>, f32, Cpu, World>(ranks, &Cpu::default())
}

fn main() {}
