//! The ranks get the model that is replicated.
//! Covers `Model` of `ranks::Ranks::replicate`.
//! Right with `Letters` for `Sounds` in line 11.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::{Ranks, RanksError, Replicated}};

ranks! { World; Data; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn share(world: &Ranks<World>, model: LmHead<Sounds>) {
    let _model: Result<Replicated<LmHead<Letters>, World>, RanksError> = world.replicate(model);
}

fn main() {}
