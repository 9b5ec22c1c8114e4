//! The average of a model that ranks divide has a method of its own.
//! Right with `add_sharded` for `add` in line 14.
use typed_transformer::{
    prelude::*,
    ranks::RankAxis,
    tensor_parallel::{Distributed, Sharded},
    train::MovingAverage,
};

fn follow<Model: Sharded<Tp, f32, Cpu> + Clone, Tp: RankAxis>(
    average: &mut MovingAverage<Distributed<Model, Tp>>,
    model: &Distributed<Model, Tp>,
) -> Result<(), OpError> {
    average.add(model)
}

fn main() {}
