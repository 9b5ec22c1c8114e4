//! The parts of a model are of its own element type.
//! Covers `E` of `tensor_parallel::Sharded`.
//! Right with `f32` for `f64` in line 10.
use typed_transformer::{
    prelude::*,
    ranks::{Ranks, RankAxis},
    tensor_parallel::{Distributed, Sharded},
};

fn f<Model: Sharded<Tp, f64, Cpu>, Tp: RankAxis>(model: &Distributed<Model, Tp>, ranks: &Ranks<Tp>) {
    let _saved = model.save::<f32, Cpu>("weights.safetensors", ranks);
}

fn main() {}
