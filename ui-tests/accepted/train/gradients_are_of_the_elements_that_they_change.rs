//! Gradients are of the elements that they change.
//! Proves `E` of `train::update`.
use dfdx::tensor::Gradients;
use typed_transformer::{train::{Adam, update}, prelude::*};

fn learn<M: Seq2Seq>(
    model: &mut LM<M, f32, Cpu>,
    gradients: Gradients<f32, Cpu>,
    optimizer: &mut Adam<LM<M, f32, Cpu>, f32>,
) -> Result<f64, OpError> {
    update::<_, f32, Cpu>(model, gradients, optimizer, 1e-3, 1.0)
}

fn main() {}
