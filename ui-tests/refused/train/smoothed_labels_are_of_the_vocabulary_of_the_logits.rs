//! A label is smoothed over the vocabulary that the model writes.
use typed_transformer::{ops::Average, prelude::*, train::smoothed_cross_entropy};

dims! { Letters = 28; Sounds = 28; TgtLen; Batch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Sounds), f32, Cpu>,
    labels: &TokenIds<Batch, TgtLen, Letters>,
) -> Tensor<(), f32, Cpu> {
    smoothed_cross_entropy(logits, labels, Average::EveryPosition, 0.1)
}

fn main() {}
