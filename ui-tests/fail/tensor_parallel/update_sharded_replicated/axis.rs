//! The ranks that divide a model update it.
//! Covers `Axis` of `tensor_parallel::update_sharded_replicated`.
//! Right with `Tp` for `OtherAxis` in line 18.
//! Mutants cover `Data` by `Data`, `Model` by `Model` of `tensor_parallel::update_sharded_replicated`.
use typed_transformer::{
    prelude::*,
    ranks::{Ranks, Replicated, RankAxis},
    tensor_parallel::{Distributed, Sharded, update_sharded_replicated},
    train::{Adam, GradientsOf},
};

type Gradients<Model, Data> = Replicated<GradientsOf<Model, f32, Cpu>, Data>;

fn step<Model: Sharded<Tp, f32, Cpu>, Other: Sharded<Tp, f32, Cpu>, Tp: RankAxis, OtherAxis: RankAxis, Data: RankAxis>(
    model: &mut Distributed<Replicated<Model, Data>, Tp>,
    gradients: Gradients<Model, Data>,
    adam: &mut Adam<Model, f32>,
    ranks: &Ranks<OtherAxis>,
) -> Result<f64, OpError> {
    update_sharded_replicated(model, gradients, adam, 1e-3, 1.0, ranks)
}

fn main() {}
