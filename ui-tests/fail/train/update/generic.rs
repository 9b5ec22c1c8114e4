//! A function that updates any model has the bound of a model.
//! Right with `Trained` for `Module` in line 8.
use typed_transformer::{nn::Module, prelude::*, train::{GradientsOf, Optimizer, update}};

trait Trained: BuildModule<Cpu, f32> {}
type Norm = Result<f64, OpError>;

fn learn<Model: Module>(model: &mut Model, gradients: GradientsOf<Model>, sgd: &mut impl Optimizer<Model, f32>) -> Norm {
    update(model, gradients, sgd, 1e-3, 1.0)
}

fn main() {}
