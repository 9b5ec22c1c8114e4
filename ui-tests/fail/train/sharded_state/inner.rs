//! An optimizer whose state the ranks divide is one of the model.
//! Covers `Inner` of `train::ShardedState`.
//! Right with `Model` for `Other` in line 14.
use typed_transformer::{
    prelude::*,
    ranks::{Ranks, RankAxis},
    tensor_parallel::{Distributed, Sharded, update_sharded},
    train::{Adam, GradientsOf, ShardedState},
};

fn step<Model: Sharded<Tp, f32, Cpu>, Other: Sharded<Tp, f32, Cpu>, Tp: RankAxis>(
    model: &mut Distributed<Model, Tp>,
    gradients: GradientsOf<Model, f32, Cpu>,
    adam: &mut ShardedState<Adam<Other, f32>, Tp>,
    ranks: &Ranks<Tp>,
) -> Result<f64, OpError> {
    update_sharded(model, gradients, adam, 1e-3, 1.0, ranks)
}

fn main() {}
