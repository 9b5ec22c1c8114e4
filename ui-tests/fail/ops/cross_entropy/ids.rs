//! Labels are indices of the classes, checked when they are made.
//! Covers `Ids` of `ops::cross_entropy`.
//! Right with `Checked` for `Numbers` in line 11.
use typed_transformer::{ops::cross_entropy, prelude::*, tokens::Indices};

dims! { NumClasses = 10; Batch; }

type Numbers = Vec<usize>;
type Checked = Indices<(Batch,), NumClasses>;

fn loss(logits: Tensor<(Batch, NumClasses), f32, Cpu>, labels: &Numbers) {
    let _loss = cross_entropy(logits, labels, Reduction::MeanAll).unwrap();
}

fn main() {}
