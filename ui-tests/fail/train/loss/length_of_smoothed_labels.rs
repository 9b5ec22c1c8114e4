//! The smoothed training loss takes one label per position of the logits.
//! Right with `TgtLen` for `SrcLen` in line 9.
use typed_transformer::{ops::cross_entropy_with_label_smoothing, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; Batch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<Batch, SrcLen, Letters>,
) -> Tensor<(), f32, Cpu> {
    cross_entropy_with_label_smoothing(logits, labels, Reduction::MeanAll, 0.1)
}

fn main() {}
