//! Gradients have the element type of the model.
//! Covers `E` of `train::update`.
//! Right with `f32` for `f64` in line 9.
use dfdx::tensor::Gradients;
use typed_transformer::{train::{Adam, update}, prelude::*};

fn learn<M: Seq2Seq>(
    model: &mut LM<M, f32, Cpu>,
    gradients: Gradients<f64, Cpu>,
    optimizer: &mut Adam<LM<M, f32, Cpu>, f32>,
) -> Result<f64, OpError> {
    update::<_, f32, Cpu>(model, gradients, optimizer, 1e-3, 1.0)
}

fn main() {}
