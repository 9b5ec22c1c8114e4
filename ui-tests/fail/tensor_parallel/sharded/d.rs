//! The parts of a model are on its own device.
//! Covers `D` of `tensor_parallel::Sharded`.
//! Right with `Cpu` for the first `D` in line 10.
use typed_transformer::{
    prelude::*,
    ranks::{Ranks, RankAxis},
    tensor_parallel::{Distributed, Sharded},
};

fn f<Model: Sharded<Tp, f32, D>, Tp: RankAxis, D: Device<f32>>(model: &Distributed<Model, Tp>, ranks: &Ranks<Tp>) {
    let _saved = model.save::<f32, Cpu>("weights.safetensors", ranks);
}

fn main() {}
