//! Logits and smoothed labels are of one vocabulary.
//! Proves `V` of `ops::smoothed_cross_entropy`.
use typed_transformer::{ops::smoothed_cross_entropy, prelude::*};

dims! { Letters = 28; Sounds = 44; TgtLen = 7; Batch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<Batch, TgtLen, Sounds>,
) -> Tensor<(), f32, Cpu> {
    smoothed_cross_entropy(logits, labels, Average::EveryPosition, 0.1)
}

fn main() {}
