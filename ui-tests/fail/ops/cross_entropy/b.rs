//! Logits and labels have the same batch.
//! Covers `B` of `ops::cross_entropy`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{ops::cross_entropy, prelude::*};

dims! { Letters = 28; TgtLen = 7; Batch; OtherBatch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<OtherBatch, TgtLen, Letters>,
) -> Tensor<(), f32, Cpu> {
    cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
