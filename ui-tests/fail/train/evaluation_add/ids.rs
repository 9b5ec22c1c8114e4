//! Labels are indices of the classes, checked when they are made.
//! Covers `Ids` of `train::Evaluation::add`.
//! Right with `Checked` for `Numbers` in line 15.
//! Mutants cover `Dims` by `Height`, `Positions` by `Batch`, `V` by `NumClasses` of `train::Evaluation::add`.
use typed_transformer::{prelude::*, train::Evaluation};

dims! { NumClasses = 10; Height = 10; Batch; }

type Numbers = Vec<usize>;
type Checked = Indices<(Batch, Height), NumClasses>;

fn add(
    evaluation: &mut Evaluation,
    logits: &Tensor<(Batch, Height, NumClasses), f32, Cpu>,
    labels: &Numbers,
) -> Result<(), OpError> {
    evaluation.add(logits, labels)
}

fn main() {}
