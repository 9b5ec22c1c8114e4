//! A loss is a sum over the ranks that have its rows.
//! Right with `Data` for `World` in line 12.
use typed_transformer::{ops::partial_cross_entropy, prelude::*, ranks, ranks::{Partial, Shard}};

ranks! { World; Data; }
dims! { Letters = 28; SeqLen = 5; Batch; }

type Rows = Shard<Batch, Data>;

fn loss(logits: Tensor<(Rows, SeqLen, Letters), f32, Cpu>, labels: &LabelIds<Rows, SeqLen, Letters>) {
    let loss = partial_cross_entropy(logits, labels, Reduction::MeanAll).unwrap();
    let _loss: Partial<Tensor<(), f32, Cpu>, World> = loss;
}

fn main() {}
