//! SGD updates the model that its state belongs to.
//! Covers `Model` of `train::Sgd`.
//! Right with `Letters` for `Sounds` in line 13.
use typed_transformer::{nn::Linear, train::{GradientsOf, Sgd, update}, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn learn(
    model: &mut LmHead<Letters>,
    gradients: GradientsOf<LmHead<Letters>, f32, Cpu>,
    optimizer: &mut Sgd<LmHead<Sounds>, f32>,
) -> Result<f64, OpError> {
    update(model, gradients, optimizer, 1e-3, 1.0)
}

fn main() {}
