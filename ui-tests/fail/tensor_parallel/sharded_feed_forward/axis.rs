//! A feed-forward layer belongs to the ranks that share it.
//! Covers `Axis` of `tensor_parallel::ShardedFeedForward`.
//! Right with `Other` for `Tp` in line 10.
use typed_transformer::{prelude::*, tensor_parallel::{CanShare, ShardedFeedForward}};

dims! { EmbedDim = 8; HiddenDim = 8; }

fn replace<Tp: CanShare<Small>, Other: CanShare<Small> + CanShare<Large>, Small: Arch, Large: Arch>(
    layer: &mut ShardedFeedForward<EmbedDim, Small, Other, f32, Cpu>,
    other: ShardedFeedForward<EmbedDim, Small, Tp, f32, Cpu>,
) {
    *layer = other;
}

fn main() {}
