//! An attention reads keys of its own width.
//! Covers `KDim` of `tensor_parallel::ShardedAttention`.
//! Right with `KDim` for the first `VDim` in line 10.
use typed_transformer::{prelude::*, tensor_parallel::{DividesLayersOf, ShardedAttention}};

dims! { QDim = 8; KDim = 8; VDim = 8; OutputDim = 8; }

fn replace<Tp: DividesLayersOf<Small>, Other: DividesLayersOf<Small> + DividesLayersOf<Large>, Small: Arch, Large: Arch>(
    attention: &mut ShardedAttention<QDim, KDim, VDim, OutputDim, Small, Other, f32, Cpu>,
    other: ShardedAttention<QDim, VDim, VDim, OutputDim, Small, Other, f32, Cpu>,
) {
    *attention = other;
}

fn main() {}
