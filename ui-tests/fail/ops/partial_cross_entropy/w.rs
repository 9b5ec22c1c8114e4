//! Logits and labels are shared by the same ranks.
//! Covers `W` of `ops::partial_cross_entropy`.
//! Right with `World` for `Data` in line 12.
//! Mutants cover `Dims` by `Batch`, `Positions` by `TgtLen`, `V` by `Letters` of `ops::partial_cross_entropy`.
use typed_transformer::{ops::partial_cross_entropy, prelude::*, ranks, ranks::Shard};

ranks! { World; Data; }
dims! { Letters = 28; Sounds = 44; SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

fn loss(
    logits: Tensor<(Shard<Batch, World>, TgtLen, Letters), f32, Cpu>,
    labels: &LabelIds<Shard<Batch, Data>, TgtLen, Letters>,
) {
    let _loss = partial_cross_entropy(logits, labels, Reduction::MeanAll).unwrap();
}

fn main() {}
