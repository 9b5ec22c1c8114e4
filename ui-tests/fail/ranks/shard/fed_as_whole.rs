//! One rank's rows are not the batch.
//! Right with `Batch` for `Part` in line 11.
use typed_transformer::{prelude::*, ranks, ranks::*};

ranks! { World; }
dims! { EmbedDim = 8; SeqLen = 5; Batch; }

type Part = Shard<Batch, World>;
type Sequence<Rows> = Tensor<(Rows, SeqLen, EmbedDim), f32, Cpu>;

fn add(x: Sequence<Batch>, y: Sequence<Part>) -> Sequence<Batch> {
    residual(x, y)
}

fn main() {}
