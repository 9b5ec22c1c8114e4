//! An optimizer updates the model that its state belongs to, not another of the same size.
//! Covers `Self` of `train::Optimizer`.
//! Covers `Model` of `train::Adam`.
//! Right with `Letters` for `Sounds` in line 12.
use typed_transformer::{nn::Linear, prelude::*, train::{Adam, GradientsOf, update}};

dims! { EmbedDim = 8; Letters = 28; Sounds = 28; }

fn step(
    model: &mut Linear<EmbedDim, Letters, f32, Cpu>,
    gradients: GradientsOf<Linear<EmbedDim, Letters, f32, Cpu>, f32, Cpu>,
    adam: &mut Adam<Linear<EmbedDim, Sounds, f32, Cpu>, f32>,
) -> Result<f64, OpError> {
    update(model, gradients, adam, 1e-3, 1.0)
}

fn main() {}
