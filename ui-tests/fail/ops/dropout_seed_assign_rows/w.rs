//! The rows are those of the ranks that divide the batch.
//! Covers `W` of `ops::DropoutSeed::assign_rows`.
//! Right with `World` for `Data` in line 10.
//! Mutants cover `Batch` by `Batch` of `ops::DropoutSeed::assign_rows`.
use typed_transformer::{ops::DropoutSeed, prelude::*, ranks, ranks::{Ranks, Shard}};

ranks! { World; Data; }
dims! { Batch; }

fn rows(seed: &DropoutSeed, ranks: &Ranks<Data>, all: Batch) {
    let _rows: Shard<Batch, World> = seed.assign_rows(ranks, all);
}

fn main() {}
