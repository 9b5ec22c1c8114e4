//! The parts are those of the whole model.
//! Covers `Whole` of `tensor_parallel::Sharded`.
//! Right with `Model` for `Other` in line 12.
use typed_transformer::{
    prelude::*,
    ranks::{Ranks, RankAxis},
    tensor_parallel::{Distributed, Sharded},
};


fn f<Model: Sharded<Tp, f32, Cpu>, Other: Sharded<Tp, f32, Cpu>, Tp: RankAxis>(
    whole: &Other::Whole,
    ranks: &Ranks<Tp>,
) {
    let _model = Distributed::<Model, Tp>::from_whole(whole, &Cpu::default(), ranks);
}

fn main() {}
