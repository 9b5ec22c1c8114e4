//! A trainer has one schedule.
//! Proves `S` of `train::Trainer`.
use typed_transformer::{nn::Linear, train::*, prelude::*};

dims! { Letters = 28; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn keep(trainer: Trainer<Adam<LmHead<Letters>, f32>, Constant>) {
    let _trainer: Trainer<Adam<LmHead<Letters>, f32>, Constant> = trainer;
}

fn main() {}
