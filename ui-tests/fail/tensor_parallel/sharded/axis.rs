//! A model belongs to the ranks that divide it.
//! Covers `Axis` of `tensor_parallel::Sharded`.
//! Right with `Tp` for the second `Other` in line 10.
use typed_transformer::{
    prelude::*,
    ranks::{Ranks, RankAxis},
    tensor_parallel::{Distributed, Sharded},
};

fn f<Model: Sharded<Tp, f32, Cpu>, Tp: RankAxis, Other: RankAxis>(device: &Cpu, ranks: &Ranks<Other>) {
    let _model = Distributed::<Model, _>::build(device, ranks);
}

fn main() {}
