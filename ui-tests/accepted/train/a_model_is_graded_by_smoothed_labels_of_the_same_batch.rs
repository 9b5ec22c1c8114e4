//! A model is graded by smoothed labels of the same batch.
//! Proves `B` of `train::smoothed_cross_entropy`.
use typed_transformer::{train::smoothed_cross_entropy, prelude::*};

dims! { Letters = 28; TgtLen = 7; Batch; OtherBatch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<Batch, TgtLen, Letters>,
) -> Tensor<(), f32, Cpu> {
    smoothed_cross_entropy(logits, labels, Average::EveryPosition, 0.1)
}

fn main() {}
