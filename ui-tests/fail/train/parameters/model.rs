//! The state of an optimizer updates the parameters of its own model.
//! Covers `Model` of `train::Parameters`.
//! Right with `Letters` for `Sounds` in line 11.
use typed_transformer::{nn::Linear, prelude::*, train::{OptimizerState, Parameters, Slot}};

dims! { EmbedDim = 8; Letters = 28; Sounds = 44; }

type Map<OutDim> = Linear<EmbedDim, OutDim, f32, Cpu>;

fn step(
    state: &mut OptimizerState<Map<Sounds>, f32, [Slot<f32>; 1]>,
    parameters: Parameters<'_, Map<Letters>, f32, Cpu>,
) -> Result<(), OpError> {
    state.update(parameters, |_, _, _| Ok(()))
}

fn main() {}
