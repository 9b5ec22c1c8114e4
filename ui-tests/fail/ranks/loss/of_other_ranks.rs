//! A loss is summed over the ranks that share its rows.
//! Right with `Data` for `World` in line 11.
use typed_transformer::{ops::partial_cross_entropy, prelude::*, ranks, ranks::*};

ranks! { World; Data; }
dims! { Letters = 28; SeqLen = 5; Batch; }

fn loss(
    logits: Tensor<(Shard<Batch, Data>, SeqLen, Letters), f32, Cpu>,
    labels: &TokenIds<Shard<Batch, Data>, SeqLen, Letters>,
) -> Partial<Tensor<(), f32, Cpu>, World> {
    partial_cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
