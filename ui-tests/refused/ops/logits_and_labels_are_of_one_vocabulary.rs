//! Logits and labels are of one vocabulary.
//! Proves `V` of `ops::cross_entropy`.
use typed_transformer::{ops::cross_entropy, prelude::*};

dims! { Letters = 28; Sounds = 44; TgtLen = 7; Batch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<Batch, TgtLen, Sounds>,
) -> Tensor<(), f32, Cpu> {
    cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
