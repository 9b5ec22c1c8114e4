//! A model is compared with that of the same type on rank 0.
//! Covers `Model` of `ranks::Ranks::ensure_replicated`.
//! Right with `Letters` for `Sounds` in line 11.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::{Ranks, RanksError, Replicated}};

ranks! { World; Data; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; }

type LmHead<Vocab> = Linear<EmbedDim, Vocab, f32, Cpu>;

fn compare(world: &Ranks<World>, model: &Replicated<LmHead<Sounds>, World>) -> Result<(), RanksError> {
    world.ensure_replicated::<LmHead<Letters>, _, _>(model)
}

fn main() {}
