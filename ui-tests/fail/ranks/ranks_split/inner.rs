//! Ranks are split into the axes that are named.
//! Covers `Inner` of `ranks::Ranks::split`.
//! Right with `Tp` for `Other` in line 11.
//! Mutants cover `Outer` by `Data` of `ranks::Ranks::split`.
use typed_transformer::{prelude::*, ranks, ranks::{Ranks, RanksError}};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn split(world: &Ranks<World>) {
    let _grid: Result<(Ranks<Data>, Ranks<Tp>), RanksError> = world.split::<Data, Other>();
}

fn main() {}
