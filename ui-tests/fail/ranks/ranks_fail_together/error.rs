//! The ranks agree on a result with the error that it had.
//! Covers `Error` of `ranks::Ranks::fail_together`.
//! Right with `TrainError` for `RanksError` in line 10.
//! Mutants cover `Value` by `Letters` of `ranks::Ranks::fail_together`.
use typed_transformer::{prelude::*, ranks, ranks::{Ranks, RanksError}, train::TrainError};

ranks! { World; }
dims! { Letters = 28; }

fn read(world: &Ranks<World>, labels: Result<Fin<Letters>, RanksError>) {
    let _labels: Result<Fin<Letters>, TrainError> = world.fail_together(labels);
}

fn main() {}
