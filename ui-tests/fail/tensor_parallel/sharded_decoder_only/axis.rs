//! A model belongs to the ranks that divide it.
//! Covers `Axis` of `tensor_parallel::ShardedDecoderOnly`.
//! Right with `Other` for `Tp` in line 8.
use typed_transformer::{prelude::*, tensor_parallel::{DividesLayersOf, ShardedDecoderOnly}};

fn replace<Tp: DividesLayersOf<Small>, Other: DividesLayersOf<Small> + DividesLayersOf<Large>, Small: SingleStack, Large: SingleStack>(
    model: &mut ShardedDecoderOnly<Small, Other, f32, Cpu>,
    other: ShardedDecoderOnly<Small, Tp, f32, Cpu>,
) {
    *model = other;
}

fn main() {}
