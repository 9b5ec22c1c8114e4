//! Gradients are summed over the ranks that have the model.
//! Covers `W` of `train::update_replicated`.
//! Right with `World` for `Data` in line 19.
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
    gradients: Replicated<GradientsOf<LmHead<Letters>, f32, Cpu>, Data>,
    adam: &mut Adam<LmHead<Letters>, f32>,
) -> Result<f64, OpError> {
    update_replicated(model, gradients, adam, 1e-3, 1.0)
}

fn main() {}
