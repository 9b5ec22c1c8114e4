//! The training loss needs recorded operations.
//! Covers `T` of `ops::cross_entropy`.
//! Right with `Recorded` for `NoneTape` in line 12.
//! Mutants cover `Dims` by `Batch`, `Positions` by `TgtLen`, `V` by `Letters` of `ops::cross_entropy`.
use typed_transformer::prelude::*;

dims! { Letters = 28; TgtLen = 7; Batch; }

type Recorded = typed_transformer::train::Recording<(), f32, Cpu>;

fn loss(
    logits: Tensor<(Batch, TgtLen, Letters), f32, Cpu, NoneTape>,
    labels: &LabelIds<Batch, TgtLen, Letters>,
) -> Result<Tensor<(), f32, Cpu, Recorded>, OpError> {
    cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
