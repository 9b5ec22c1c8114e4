//! A label is smoothed over the vocabulary that the model writes.
//! Proves `V` of `train::cross_entropy_with_label_smoothing`.
use typed_transformer::{ops::Reduction, prelude::*, train::cross_entropy_with_label_smoothing};

dims! { Letters = 28; Sounds = 28; TgtLen; Batch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Sounds), f32, Cpu>,
    labels: &TokenIds<Batch, TgtLen, Sounds>,
) -> Tensor<(), f32, Cpu> {
    cross_entropy_with_label_smoothing(logits, labels, Reduction::MeanAll, 0.1)
}

fn main() {}
