//! The place among the ranks of one axis is not that among others.
//! Covers `Axis` of `ranks::Ranks`.
//! Right with `World` for `Data` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Ranks};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn keep(ranks: &Ranks<Data>) {
    let _world: &Ranks<World> = ranks;
}

fn main() {}
