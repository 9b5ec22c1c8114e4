//! A classifier has one label in each row.
//! Right with `Batch` for `Other` in line 9.
use typed_transformer::{prelude::*, tokens::Indices};

dims! { NumClasses = 10; Batch; Other; }

fn loss(
    logits: Tensor<(Batch, NumClasses), f32, Cpu>,
    labels: &Indices<(Other,), NumClasses>,
) -> Result<Tensor<(), f32, Cpu>, OpError> {
    cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
