//! A model that is replicated keeps its element type.
//! Covers `E` of `ranks::Ranks::replicate`.
//! Right with `f32` for `f64` in line 10.
//! Mutants cover `Model` by `Letters` of `ranks::Ranks::replicate`.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::{Ranks, RanksError, Replicated}};

ranks! { World; }
dims! { EmbedDim = 8; Letters = 28; }

fn share(world: &Ranks<World>, model: Linear<EmbedDim, Letters, f64, Cpu>) {
    let _model: Result<Replicated<Linear<EmbedDim, Letters, f32, Cpu>, World>, RanksError> = world.replicate(model);
}

fn main() {}
