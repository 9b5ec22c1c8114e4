//! A model is graded by labels in the vocabulary that it writes.
//! Proves `V` of `train::cross_entropy`.
use typed_transformer::{ops::Reduction, prelude::*, train::cross_entropy};

dims! { Letters = 28; Sounds = 28; TgtLen; Batch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Sounds), f32, Cpu>,
    labels: &TokenIds<Batch, TgtLen, Sounds>,
) -> Tensor<(), f32, Cpu> {
    cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
