//! The training loss takes labels of the model's batch.
//! Right with `Batch` for `OtherBatch` in line 9.
use typed_transformer::prelude::*;

dims! { Letters = 28; TgtLen = 7; Batch; OtherBatch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<OtherBatch, TgtLen, Letters>,
) -> Tensor<(), f32, Cpu> {
    cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
