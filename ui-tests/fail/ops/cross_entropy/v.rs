//! Logits and labels have the same vocabulary.
//! Covers `V` of `ops::cross_entropy`.
//! Right with `Letters` for `Sounds` in line 10.
use typed_transformer::{ops::cross_entropy, prelude::*};

dims! { Letters = 28; Sounds = 44; TgtLen = 7; Batch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<Batch, TgtLen, Sounds>,
) -> Tensor<(), f32, Cpu> {
    cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
