//! Logits and labels are parts of the same batch.
//! Covers `Dims` of `ops::partial_cross_entropy`.
//! Right with `Batch` for `Other` in line 11.
use typed_transformer::{ops::partial_cross_entropy, prelude::*, ranks, ranks::{Partial, Shard}};

ranks! { World; Data; }
dims! { Letters = 28; Sounds = 44; SrcLen = 5; TgtLen = 7; Batch; Other; }

fn loss(
    logits: Tensor<(Shard<Batch, World>, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<Shard<Other, World>, TgtLen, Letters>,
) -> Partial<Tensor<(), f32, Cpu>, World> {
    partial_cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
