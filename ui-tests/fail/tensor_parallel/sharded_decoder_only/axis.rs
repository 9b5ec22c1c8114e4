//! A model belongs to the ranks that share it.
//! Covers `Axis` of `tensor_parallel::ShardedDecoderOnly`.
//! Right with `Other` for `Tp` in line 8.
use typed_transformer::{prelude::*, tensor_parallel::{CanShare, ShardedDecoderOnly}};

fn replace<Tp: CanShare<Small>, Other: CanShare<Small> + CanShare<Large>, Small: SingleStack, Large: SingleStack>(
    model: &mut ShardedDecoderOnly<Small, Other, f32, Cpu>,
    other: ShardedDecoderOnly<Small, Tp, f32, Cpu>,
) {
    *model = other;
}

fn main() {}
