//! `update_replicated` updates a `Replicated` model.
//! Right with `LmHead` for `Shared` in line 10.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::Replicated, train::{GradientsOf, Optimizer, update}};

dims! { Letters = 28; EmbedDim = 8; }
ranks! { World; }

type LmHead = Linear<EmbedDim, Letters, f32, Cpu>;
type Shared = Replicated<LmHead, World>;
type Model = Shared;
type Norm = Result<f64, OpError>;

fn learn(model: &mut Model, gradients: GradientsOf<Model>, sgd: &mut impl Optimizer<Model, f32>) -> Norm {
    update(model, gradients, sgd, 1e-3, 1.0)
}

fn main() {}
