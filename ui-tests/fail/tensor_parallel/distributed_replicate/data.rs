//! The parts are the same on the ranks that replicate them.
//! Covers `Data` of `tensor_parallel::Distributed::replicate`.
//! Right with `Data` for `Other` in line 12.
use typed_transformer::{
    prelude::*,
    ranks::{Ranks, RanksError, Replicated, RankAxis},
    tensor_parallel::{Distributed, Sharded},
};

fn copy<Model: Sharded<Tp, f32, Cpu>, Tp: RankAxis, Data: RankAxis, Other: RankAxis>(
    model: Distributed<Model, Tp>,
    ranks: &Ranks<Other>,
) -> Result<Distributed<Replicated<Model, Data>, Tp>, RanksError> {
    model.replicate(ranks)
}

fn main() {}
