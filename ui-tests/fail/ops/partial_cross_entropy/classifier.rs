//! The labels of a classifier are indices of its classes.
//! Right with `NumClasses` for `VocabSize` in line 10.
use typed_transformer::{ops::partial_cross_entropy, prelude::*, ranks, ranks::Shard, tokens::Indices};

ranks! { World; }
dims! { NumClasses = 10; VocabSize = 10; Batch; }
type Rows = Shard<Batch, World>;

type Logits = Tensor<(Rows, NumClasses), f32, Cpu>;
fn loss(logits: Logits, labels: &Indices<(Rows,), VocabSize>) {
    let _loss = partial_cross_entropy(logits, labels, Reduction::MeanAll);
}

fn main() {}
