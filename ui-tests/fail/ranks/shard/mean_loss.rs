//! The mean over one rank's rows is not the mean over the batch.
//! Right with `Batch` for `Part` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::*};

ranks! { World; }
dims! { Letters = 28; SeqLen = 5; Batch; }

type Part = Shard<Batch, World>;
type Rows = Part;

fn loss(
    logits: Tensor<(Rows, SeqLen, Letters), f32, Cpu>,
    labels: &LabelIds<Rows, SeqLen, Letters>,
) -> Result<Tensor<(), f32, Cpu>, OpError> {
    cross_entropy(logits, labels, Reduction::MeanAll)
}

fn main() {}
