//! Labels are indices of the classes, checked when they are made.
//! Covers `Ids` of `ops::partial_cross_entropy`.
//! Right with `Checked` for `Numbers` in line 12.
use typed_transformer::{ops::partial_cross_entropy, prelude::*, ranks, ranks::Shard, tokens::Indices};

ranks! { World; }
dims! { NumClasses = 10; Batch; }

type Numbers = Vec<usize>;
type Checked = Indices<(Shard<Batch, World>,), NumClasses>;

fn loss(logits: Tensor<(Shard<Batch, World>, NumClasses), f32, Cpu>, labels: &Numbers) {
    let _loss = partial_cross_entropy(logits, labels, Reduction::MeanAll).unwrap();
}

fn main() {}
