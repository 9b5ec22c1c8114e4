//! A step divides the batch that it is given.
//! Covers `Batch` of `train::Step::assign_rows`.
//! Right with `Batch` for `Sentences` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::{Ranks, Shard}, train::Step};

ranks! { World; }
dims! { Batch; Sentences; }

fn rows(step: &Step, world: &Ranks<World>, all: Sentences) {
    let _rows: Shard<Batch, World> = step.assign_rows(world, all);
}

fn main() {}
