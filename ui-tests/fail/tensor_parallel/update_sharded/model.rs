//! Gradients update the model that they are of.
//! Covers `Model` of `tensor_parallel::update_sharded`.
//! Right with `Model` for `Other` in line 13.
use typed_transformer::{
    prelude::*,
    ranks::{Ranks, RankAxis},
    tensor_parallel::{Distributed, Sharded, update_sharded},
    train::{Adam, GradientsOf},
};

fn step<Model: Sharded<Tp, f32, Cpu>, Other: Sharded<Tp, f32, Cpu>, Tp: RankAxis, OtherAxis: RankAxis>(
    model: &mut Distributed<Model, Tp>,
    gradients: GradientsOf<Other, f32, Cpu>,
    adam: &mut Adam<Model, f32>,
    ranks: &Ranks<Tp>,
) -> Result<f64, OpError> {
    update_sharded(model, gradients, adam, 1e-3, 1.0, ranks)
}

fn main() {}
