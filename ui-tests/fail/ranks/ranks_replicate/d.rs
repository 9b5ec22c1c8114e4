//! A model that is replicated stays on its device.
//! Covers `D` of `ranks::Ranks::replicate`.
//! Right with `Cpu` for the second `Gpu` in line 9.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::{Ranks, RanksError, Replicated}};

ranks! { World; }
dims! { EmbedDim = 8; Letters = 28; }

fn share<Gpu: Backend<f32>>(world: &Ranks<World>, model: Linear<EmbedDim, Letters, f32, Gpu>) {
    let _model: Result<Replicated<Linear<EmbedDim, Letters, f32, Cpu>, World>, RanksError> = world.replicate(model);
}

fn main() {}
