//! An attention belongs to one architecture.
//! Covers `A` of `tensor_parallel::ShardedAttention`.
//! Right with `Small` for `Large` in line 10.
use typed_transformer::{prelude::*, tensor_parallel::{DividesLayersOf, ShardedAttention}};

dims! { QDim = 8; KDim = 8; VDim = 8; OutputDim = 8; }

fn replace<Tp: DividesLayersOf<Small>, Other: DividesLayersOf<Small> + DividesLayersOf<Large>, Small: Arch, Large: Arch>(
    attention: &mut ShardedAttention<QDim, KDim, VDim, OutputDim, Small, Other, f32, Cpu>,
    other: ShardedAttention<QDim, KDim, VDim, OutputDim, Large, Other, f32, Cpu>,
) {
    *attention = other;
}

fn main() {}
