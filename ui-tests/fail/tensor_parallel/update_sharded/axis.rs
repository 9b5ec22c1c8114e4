//! The ranks that divide a model update it.
//! Covers `Axis` of `tensor_parallel::update_sharded`.
//! Right with `Tp` for `OtherAxis` in line 16.
//! Mutants cover `Model` by `Model` of `tensor_parallel::update_sharded`.
use typed_transformer::{
    prelude::*,
    ranks::{Ranks, RankAxis},
    tensor_parallel::{Distributed, Sharded, update_sharded},
    train::{Adam, GradientsOf},
};

fn step<Model: Sharded<Tp, f32, Cpu>, Other: Sharded<Tp, f32, Cpu>, Tp: RankAxis, OtherAxis: RankAxis>(
    model: &mut Distributed<Model, Tp>,
    gradients: GradientsOf<Model, f32, Cpu>,
    adam: &mut Adam<Model, f32>,
    ranks: &Ranks<OtherAxis>,
) -> Result<f64, OpError> {
    update_sharded(model, gradients, adam, 1e-3, 1.0, ranks)
}

fn main() {}
