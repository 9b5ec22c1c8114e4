//! The updated model is the one that the optimizer belongs to.
//! Covers `Model` of `train::update`.
//! Right with `Letters` for `Sounds` in line 12.
use dfdx::tensor::Gradients;
use typed_transformer::{nn::Linear, train::{Adam, update}, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn learn(
    model: &mut LmHead<Sounds>,
    gradients: Gradients<f32, Cpu>,
    optimizer: &mut Adam<LmHead<Letters>, f32>,
) -> Result<f64, OpError> {
    update(model, gradients, optimizer, 1e-3, 1.0)
}

fn main() {}
