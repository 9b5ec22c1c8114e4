//! The rows are those of the ranks that divide the batch.
//! Covers `W` of `train::Step::assign_rows`.
//! Right with `World` for `Data` in line 10.
//! Mutants cover `Batch` by `Batch` of `train::Step::assign_rows`.
use typed_transformer::{prelude::*, ranks, ranks::{Ranks, Shard}, train::Step};

ranks! { World; Data; }
dims! { Batch; }

fn rows(step: &Step, ranks: &Ranks<Data>, all: Batch) {
    let _rows: Shard<Batch, World> = step.assign_rows(ranks, all);
}

fn main() {}
