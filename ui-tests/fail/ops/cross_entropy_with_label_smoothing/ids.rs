//! Labels are indices of the classes, checked when they are made.
//! Covers `Ids` of `ops::cross_entropy_with_label_smoothing`.
//! Right with `Checked` for `Numbers` in line 11.
use typed_transformer::{ops::cross_entropy_with_label_smoothing, prelude::*, tokens::Indices};

dims! { NumClasses = 10; Batch; }

type Numbers = Vec<usize>;
type Checked = Indices<(Batch,), NumClasses>;

fn loss(logits: Tensor<(Batch, NumClasses), f32, Cpu>, labels: &Numbers) {
    let _loss = cross_entropy_with_label_smoothing(logits, labels, Reduction::MeanAll, 0.1).unwrap();
}

fn main() {}
