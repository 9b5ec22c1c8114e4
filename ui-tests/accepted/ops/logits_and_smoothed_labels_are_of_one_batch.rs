//! Logits and smoothed labels are of one batch.
//! Proves `B` of `ops::smoothed_cross_entropy`.
use typed_transformer::{ops::smoothed_cross_entropy, prelude::*};

dims! { Letters = 28; TgtLen = 7; Batch; OtherBatch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<Batch, TgtLen, Letters>,
) -> Tensor<(), f32, Cpu> {
    smoothed_cross_entropy(logits, labels, Average::EveryPosition, 0.1)
}

fn main() {}
