//! An optimizer of any model has the bound of a model.
//! Right with `Trained` for `Module` in line 8.
use typed_transformer::{nn::Module, prelude::*, train::{OptimizerState, Parameters, Slot}};

trait Trained: BuildModule<Cpu, f32> {}
type State<Model> = OptimizerState<Model, f32, [Slot<f32>; 1]>;

fn step<Model: Module>(state: &mut State<Model>, parameters: Parameters<Model, f32, Cpu>) -> Result<(), OpError> {
    state.update(parameters, |_, mut parameter, [_]| parameter.values().and_then(|values| parameter.set_values(values)))
}

fn main() {}
