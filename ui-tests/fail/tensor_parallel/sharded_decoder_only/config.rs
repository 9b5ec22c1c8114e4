//! A model has one configuration.
//! Covers `Config` of `tensor_parallel::ShardedDecoderOnly`.
//! Right with `Small` for `Large` in line 8.
use typed_transformer::{prelude::*, tensor_parallel::{DividesLayersOf, ShardedDecoderOnly}};

fn replace<Tp: DividesLayersOf<Small>, Other: DividesLayersOf<Small> + DividesLayersOf<Large>, Small: SingleStack, Large: SingleStack>(
    model: &mut ShardedDecoderOnly<Small, Other, f32, Cpu>,
    other: ShardedDecoderOnly<Large, Other, f32, Cpu>,
) {
    *model = other;
}

fn main() {}
