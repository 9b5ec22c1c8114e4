//! Logits and labels have the same sequence length.
//! Covers `Positions` of `ops::partial_cross_entropy`.
//! Right with `TgtLen` for `SrcLen` in line 11.
use typed_transformer::{ops::partial_cross_entropy, prelude::*, ranks, ranks::{Partial, Shard}};

ranks! { World; Data; }
dims! { Letters = 28; Sounds = 44; SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

fn loss(
    logits: Tensor<(Shard<Batch, World>, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<Shard<Batch, World>, SrcLen, Letters>,
) -> Partial<Tensor<(), f32, Cpu>, World> {
    partial_cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
