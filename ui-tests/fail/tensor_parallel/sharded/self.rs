//! The ranks have a model of shards, not a whole one.
//! Covers `Self` of `tensor_parallel::Sharded`.
//! Right with `Part` for `Whole` in line 11.
use typed_transformer::{
    prelude::*,
    ranks::{Ranks, RankAxis},
    tensor_parallel::{Distributed, Sharded},
};

fn f<Whole: Arch, Part: Sharded<Tp, f32, Cpu>, Tp: RankAxis>(device: &Cpu, tp: &Ranks<Tp>) {
    let _model = Distributed::<Whole, Tp>::build(device, tp);
}

fn main() {}
