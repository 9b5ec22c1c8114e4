//! A model belongs to the ranks that divide it.
//! Covers `Axis` of `tensor_parallel::ShardedLM`.
//! Right with `Other` for `Tp` in line 8.
use typed_transformer::{prelude::*, tensor_parallel::{DividesLayersOf, ShardedLM}};

fn replace<Tp: DividesLayersOf<Small>, Other: DividesLayersOf<Small> + DividesLayersOf<Large>, Small: Seq2Seq, Large: Seq2Seq>(
    model: &mut ShardedLM<Small, Other, f32, Cpu>,
    other: ShardedLM<Small, Tp, f32, Cpu>,
) {
    *model = other;
}

fn main() {}
