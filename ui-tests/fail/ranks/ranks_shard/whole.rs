//! A shard is one of the dimension that the ranks divide.
//! Covers `Whole` of `ranks::Ranks::shard`.
//! Right with `Batch` for `Rows` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::{Ranks, Shard}};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn share(world: &Ranks<World>, all: Rows) {
    let _rows: Shard<Batch, World> = world.shard(all);
}

fn main() {}
