//! Labels are indices of the classes, checked when they are made.
//! Covers `Ids` of `ops::partial_cross_entropy_with_label_smoothing`.
//! Right with `Checked` for `Numbers` in line 13.
//! Mutants cover `Dims` by `Batch`, `Positions` by `Height`, `V` by `NumClasses` of `ops::partial_cross_entropy_with_label_smoothing`.
use typed_transformer::{ops::partial_cross_entropy_with_label_smoothing, prelude::*, ranks, ranks::Shard};

ranks! { World; }
dims! { NumClasses = 10; Height = 10; Other; Batch; }

type Numbers = Vec<usize>;
type Checked = Indices<(Shard<Batch, World>, Height), NumClasses>;

fn loss(logits: Tensor<(Shard<Batch, World>, Height, NumClasses), f32, Cpu>, labels: &Numbers) {
    let _loss = partial_cross_entropy_with_label_smoothing(logits, labels, Reduction::MeanAll, 0.1).unwrap();
}

fn main() {}
