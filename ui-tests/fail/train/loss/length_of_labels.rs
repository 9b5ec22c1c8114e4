//! The training loss takes labels of the target, not of the source.
//! Right with `TgtLen` for `SrcLen` in line 9.
use typed_transformer::prelude::*;

dims! { Letters = 28; SrcLen = 4; TgtLen = 4; Batch; }

fn loss(
    logits: Tensor<(Batch, TgtLen, Letters), f32, Cpu>,
    labels: &TokenIds<Batch, SrcLen, Letters>,
) -> Tensor<(), f32, Cpu> {
    cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
