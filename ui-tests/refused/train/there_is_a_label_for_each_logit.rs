//! A model is graded by the target, not by the source.
//! Proves `S` of `train::cross_entropy`.
use typed_transformer::{ops::Reduction, prelude::*, train::cross_entropy};

dims! { Letters = 28; SrcLen = 4; TgtLen = 4; Batch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<Batch, SrcLen, Letters>,
) -> Tensor<(), f32, Cpu> {
    cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
