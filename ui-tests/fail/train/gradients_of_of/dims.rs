//! The gradient of a parameter has the dimensions of the parameter.
//! Covers `Dims` of `train::GradientsOf::of`.
//! Right with `Weight` for `Square` in line 13.
use typed_transformer::{nn::Linear, train::GradientsOf, prelude::*};

dims! { EmbedDim = 8; VocabSize = 28; }

type Model = Linear<EmbedDim, VocabSize, f32, Cpu>;
type Weight = Tensor<(VocabSize, EmbedDim), f32, Cpu>;
type Square = Tensor<(VocabSize, VocabSize), f32, Cpu>;

fn show(model: &Model, mut gradients: GradientsOf<Model, f32, Cpu>) {
    let _gradient: Result<Square, _> = gradients.of(&model.weight);
}

fn main() {}
