//! Gradients update the model that they are of.
//! Covers `Model` of `train::update_replicated`.
//! Right with `Letters` for `Sounds` in line 21.
//! Mutants cover `W` by `World` of `train::update_replicated`.
use typed_transformer::{
    nn::Linear,
    prelude::*,
    ranks,
    ranks::Replicated,
    train::{Adam, GradientsOf, update_replicated},
};

ranks! { World; Data; }
dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn learn(
    model: &mut Replicated<LmHead<Letters>, World>,
    gradients: Replicated<GradientsOf<LmHead<Letters>, f32, Cpu>, World>,
    adam: &mut Adam<LmHead<Sounds>, f32>,
) -> Result<f64, OpError> {
    update_replicated(model, gradients, adam, 1e-3, 1.0)
}

fn main() {}
