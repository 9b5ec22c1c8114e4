//! Ranks are split into the axes that are named.
//! Covers `Outer` of `ranks::Ranks::split`.
//! Right with `Data` for `World` in line 10.
use typed_transformer::{prelude::*, ranks, ranks::{Ranks, RanksError}};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn split(world: &Ranks<World>) {
    let _grid: Result<(Ranks<Data>, Ranks<Tp>), RanksError> = world.split::<World, Tp>();
}

fn main() {}
