//! A trainer has one type of optimizer.
//! Covers `O` of `train::Trainer`.
//! Right with `Letters` for `Sounds` in line 10.
use typed_transformer::{nn::Linear, train::*, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn keep(trainer: Trainer<Adam<LmHead<Sounds>, f32>, Constant>) {
    let _trainer: Trainer<Adam<LmHead<Letters>, f32>, Constant> = trainer;
}

fn main() {}
