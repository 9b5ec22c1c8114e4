//! Logits and smoothed labels have the same positions.
//! Covers `Positions` of `ops::cross_entropy_with_label_smoothing`.
//! Right with `TgtLen` for `SrcLen` in line 10.
use typed_transformer::{ops::cross_entropy_with_label_smoothing, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; Batch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<Batch, SrcLen, Letters>,
) -> Tensor<(), f32, Cpu> {
    cross_entropy_with_label_smoothing(logits, labels, Reduction::MeanAll, 0.1)
}

fn main() {}
