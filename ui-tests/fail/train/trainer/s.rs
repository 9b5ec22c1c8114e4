//! A trainer has one type of schedule.
//! Covers `S` of `train::Trainer`.
//! Right with `f64` for `WarmupCosine` in line 11.
//! Mutants cover `O` by `Letters` of `train::Trainer`.
use typed_transformer::{nn::Linear, train::*, prelude::*};

dims! { Letters = 28; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn keep(trainer: Trainer<Adam<LmHead<Letters>, f32>, WarmupCosine>) {
    let _trainer: Trainer<Adam<LmHead<Letters>, f32>, f64> = trainer;
}

fn main() {}
