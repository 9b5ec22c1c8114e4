//! A model has one configuration.
//! Covers `Config` of `tensor_parallel::ShardedLM`.
//! Right with `Small` for `Large` in line 8.
use typed_transformer::{prelude::*, tensor_parallel::{DividesLayersOf, ShardedLM}};

fn replace<Tp: DividesLayersOf<Small>, Other: DividesLayersOf<Small> + DividesLayersOf<Large>, Small: Seq2Seq, Large: Seq2Seq>(
    model: &mut ShardedLM<Small, Other, f32, Cpu>,
    other: ShardedLM<Large, Other, f32, Cpu>,
) {
    *model = other;
}

fn main() {}
