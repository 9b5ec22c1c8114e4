//! A feed-forward layer belongs to the ranks that divide it.
//! Covers `Axis` of `tensor_parallel::ShardedFeedForward`.
//! Right with `Other` for `Tp` in line 10.
use typed_transformer::{prelude::*, tensor_parallel::{DividesLayersOf, ShardedFeedForward}};

dims! { EmbedDim = 8; HiddenDim = 8; }

fn replace<Tp: DividesLayersOf<Small>, Other: DividesLayersOf<Small> + DividesLayersOf<Large>, Small: Arch, Large: Arch>(
    layer: &mut ShardedFeedForward<EmbedDim, Small, Other, f32, Cpu>,
    other: ShardedFeedForward<EmbedDim, Small, Tp, f32, Cpu>,
) {
    *layer = other;
}

fn main() {}
