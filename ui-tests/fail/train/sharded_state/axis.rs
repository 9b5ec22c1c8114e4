//! The ranks that divide the state are those of its type.
//! Covers `Axis` of `train::ShardedState`.
//! Right with `World` for `Data` in line 8.
use typed_transformer::{ranks, ranks::Ranks, train::{Adam, ShardedState}};

ranks! { World; Data; }

fn share<Model>(adam: Adam<Model, f32>, ranks: &Ranks<Data>) -> ShardedState<Adam<Model, f32>, World> {
    ShardedState::new(adam, ranks)
}

fn main() {}
