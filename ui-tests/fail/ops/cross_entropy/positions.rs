//! Logits and labels have the same positions.
//! Covers `Positions` of `ops::cross_entropy`.
//! Right with `TgtLen` for `SrcLen` in line 10.
use typed_transformer::{ops::cross_entropy, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; Batch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<Batch, SrcLen, Letters>,
) -> Tensor<(), f32, Cpu> {
    cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
