//! An optimizer steps the model that it remembers, not another of the same size.
use dfdx::tensor::Gradients;
use typed_transformer::{nn::Linear, prelude::*, train::Adam, train::update};

dims! { EmbedDim = 8; Letters = 28; Sounds = 28; }

fn step(
    model: &mut Linear<EmbedDim, Letters, f32, Cpu>,
    gradients: Gradients<f32, Cpu>,
    adam: &mut Adam<Linear<EmbedDim, Sounds, f32, Cpu>, f32>,
) -> Result<f64, OpError> {
    update(model, gradients, adam, 1e-3, 1.0)
}

fn main() {}
