//! Gradients have the element type of the model.
//! Covers `E` of `train::update`.
//! Right with `f32` for `f64` in line 8.
use typed_transformer::{train::{Adam, GradientsOf, update}, prelude::*};

fn learn<M: Seq2Seq>(
    model: &mut LM<M, f32, Cpu>,
    gradients: GradientsOf<LM<M, f32, Cpu>, f64, Cpu>,
    optimizer: &mut Adam<LM<M, f32, Cpu>, f32>,
) -> Result<f64, OpError> {
    update::<_, f32, Cpu>(model, gradients, optimizer, 1e-3, 1.0)
}

fn main() {}
