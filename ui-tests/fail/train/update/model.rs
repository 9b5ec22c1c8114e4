//! Gradients update the model that they were computed for.
//! Covers `Model` of `train::update`.
//! Right with `Sounds` for `Letters` in line 12.
use typed_transformer::{nn::Linear, train::{Adam, GradientsOf, update}, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn learn(
    model: &mut LmHead<Sounds>,
    gradients: GradientsOf<LmHead<Letters>, f32, Cpu>,
    optimizer: &mut Adam<LmHead<Sounds>, f32>,
) -> Result<f64, OpError> {
    update(model, gradients, optimizer, 1e-3, 1.0)
}

fn main() {}
