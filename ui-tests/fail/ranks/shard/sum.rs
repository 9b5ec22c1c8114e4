//! The sum of one rank's rows is not the sum of all rows.
//! Right with `Batch` for `Part` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::*};

ranks! { World; }
dims! { EmbedDim = 8; Batch; }

type Part = Shard<Batch, World>;
type Rows = Part;

fn total(x: Tensor<(Rows, EmbedDim), f32, Cpu>) -> Tensor<(EmbedDim,), f32, Cpu> {
    sum_over(x, axis::<Rows>())
}

fn main() {}
