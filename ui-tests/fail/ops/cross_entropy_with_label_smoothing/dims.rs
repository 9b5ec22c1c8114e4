//! Logits and smoothed labels are of the same batch.
//! Covers `Dims` of `ops::cross_entropy_with_label_smoothing`.
//! Right with `Batch` for `OtherBatch` in line 10.
//! Mutants cover `Positions` by `TgtLen`, `V` by `Letters` of `ops::cross_entropy_with_label_smoothing`.
use typed_transformer::{ops::cross_entropy_with_label_smoothing, prelude::*};

dims! { Letters = 28; TgtLen = 7; Batch; OtherBatch; }

fn loss(
    logits: Tensor<(OtherBatch, TgtLen, Letters), f32, Cpu>,
    labels: &LabelIds<Batch, TgtLen, Letters>,
) -> Result<Tensor<(), f32, Cpu>, OpError> {
    cross_entropy_with_label_smoothing(logits, labels, Reduction::MeanAll, 0.1)
}

fn main() {}
