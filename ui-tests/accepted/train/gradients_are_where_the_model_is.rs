//! Gradients are where the model is.
//! Proves `D` of `train::update`.
use dfdx::tensor::Gradients;
use typed_transformer::{train::{Adam, update}, prelude::*};

dims! { Other; }

fn learn<M: Seq2Seq, One: Backend<f32>, Other: Backend<f32>>(
    model: &mut LM<M, f32, One>,
    gradients: Gradients<f32, One>,
    optimizer: &mut Adam<LM<M, f32, One>, f32>,
) -> Result<f64, OpError> {
    update::<_, f32, One>(model, gradients, optimizer, 1e-3, 1.0)
}

fn main() {}
