//! There is a smoothed label for each logit.
//! Proves `S` of `train::smoothed_cross_entropy`.
use typed_transformer::{train::smoothed_cross_entropy, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; Batch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<Batch, SrcLen, Letters>,
) -> Tensor<(), f32, Cpu> {
    smoothed_cross_entropy(logits, labels, Average::EveryPosition, 0.1)
}

fn main() {}
