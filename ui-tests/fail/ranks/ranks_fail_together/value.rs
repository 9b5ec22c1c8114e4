//! What the ranks agree on has the type that it had.
//! Covers `Value` of `ranks::Ranks::fail_together`.
//! Right with `Letters` for `Sounds` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::{Ranks, RanksError}};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn read(world: &Ranks<World>, labels: Result<Fin<Sounds>, RanksError>) {
    let _labels: Result<Fin<Letters>, RanksError> = world.fail_together(labels);
}

fn main() {}
