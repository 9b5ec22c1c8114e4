//! A model is graded by smoothed labels of the same batch.
//! Proves `B` of `train::cross_entropy_with_label_smoothing`.
use typed_transformer::{train::cross_entropy_with_label_smoothing, prelude::*};

dims! { Letters = 28; TgtLen = 7; Batch; OtherBatch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<Batch, TgtLen, Letters>,
) -> Tensor<(), f32, Cpu> {
    cross_entropy_with_label_smoothing(logits, labels, Reduction::MeanAll, 0.1)
}

fn main() {}
