//! The training loss takes labels of the vocabulary that the model writes.
//! Right with `Sounds` for `Letters` in line 9.
use typed_transformer::prelude::*;

dims! { Letters = 28; Sounds = 28; TgtLen; Batch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Sounds), f32, Cpu>,
    labels: &LabelIds<Batch, TgtLen, Letters>,
) -> Result<Tensor<(), f32, Cpu>, OpError> {
    cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
