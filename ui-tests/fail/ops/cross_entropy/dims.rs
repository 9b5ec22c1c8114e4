//! Logits and labels are of the same batch.
//! Covers `Dims` of `ops::cross_entropy`.
//! Right with `Batch` for `OtherBatch` in line 9.
use typed_transformer::{ops::cross_entropy, prelude::*};

dims! { Letters = 28; TgtLen = 7; Batch; OtherBatch; }

fn loss(
    logits: Tensor<(OtherBatch, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<Batch, TgtLen, Letters>,
) -> Tensor<(), f32, Cpu> {
    cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
