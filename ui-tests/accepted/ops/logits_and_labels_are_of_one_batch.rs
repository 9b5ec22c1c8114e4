//! Logits and labels are of one batch.
//! Proves `B` of `ops::cross_entropy`.
use typed_transformer::{ops::cross_entropy, prelude::*};

dims! { Letters = 28; TgtLen = 7; Batch; OtherBatch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<Batch, TgtLen, Letters>,
) -> Tensor<(), f32, Cpu> {
    cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
