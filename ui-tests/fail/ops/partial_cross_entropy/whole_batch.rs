//! A rank's term of a loss is that of its own rows.
//! Right with `Rows` for `Batch` in line 12.
use typed_transformer::{ops::partial_cross_entropy, prelude::*, ranks, ranks::{Partial, Shard}};

ranks! { World; }
dims! { Letters = 28; TgtLen = 7; Batch; }
type Rows = Shard<Batch, World>;
type Loss = Partial<Tensor<(), f32, Cpu>, World>;

fn loss(
    logits: Tensor<(Rows, TgtLen, Letters), f32, Cpu>,
    labels: &LabelIds<Batch, TgtLen, Letters>,
) -> Result<Loss, OpError> {
    partial_cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
