//! The sum of one rank's rows is not the sum of all rows.
//! Right with `Batch` for `Shard<Batch, World>` in line 8.
use typed_transformer::{prelude::*, ranks, ranks::*};

ranks! { World; }
dims! { EmbedDim = 8; Batch; }

type Rows = Shard<Batch, World>;

fn total(x: Tensor<(Rows, EmbedDim), f32, Cpu>) -> Tensor<(EmbedDim,), f32, Cpu> {
    sum_over(x, axis::<Rows>())
}

fn main() {}
