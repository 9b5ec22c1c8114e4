//! Gradients are on the device of the model.
//! Covers `D` of `train::update`.
//! Right with `One` for `Other` in line 10.
use typed_transformer::{train::{Adam, GradientsOf, update}, prelude::*};

dims! { Other; }

fn learn<M: Seq2Seq, One: Backend<f32>, Other: Backend<f32>>(
    model: &mut LM<M, f32, One>,
    gradients: GradientsOf<LM<M, f32, One>, f32, Other>,
    optimizer: &mut Adam<LM<M, f32, One>, f32, One>,
) -> Result<f64, OpError> {
    update::<_, f32, One>(model, gradients, optimizer, 1e-3, 1.0)
}

fn main() {}
