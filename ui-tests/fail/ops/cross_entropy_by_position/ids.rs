//! Labels are indices of the classes, checked when they are made.
//! Covers `Ids` of `ops::cross_entropy_by_position`.
//! Right with `Checked` for `Numbers` in line 14.
//! Mutants cover `Dims` by `Height`, `Positions` by `Batch`, `V` by `NumClasses` of `ops::cross_entropy_by_position`.
use typed_transformer::{ops::cross_entropy_by_position, prelude::*};

dims! { NumClasses = 10; Height = 10; Batch; }

type Numbers = Vec<usize>;
type Checked = Indices<(Batch, Height), NumClasses>;

fn losses(
    logits: Tensor<(Batch, Height, NumClasses), f32, Cpu>,
    labels: &Numbers,
) -> Result<Tensor<(Batch, Height), f32, Cpu>, OpError> {
    cross_entropy_by_position(logits, labels)
}

fn main() {}
