//! One rank's rows are not the batch.
//! Right with `Batch` for `Shard<Batch, World>` in line 10.
use typed_transformer::{prelude::*, ranks, ranks::*};

ranks! { World; }
dims! { EmbedDim = 8; SeqLen = 5; Batch; }

type Sequence<Rows> = Tensor<(Rows, SeqLen, EmbedDim), f32, Cpu>;

fn add(x: Sequence<Batch>, y: Sequence<Shard<Batch, World>>) -> Sequence<Batch> {
    residual(x, y)
}

fn main() {}
