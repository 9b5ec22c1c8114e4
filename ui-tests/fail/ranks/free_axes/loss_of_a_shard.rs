//! A mean divides by all elements, not by those of this rank's part.
//! Right with `Batch` for `Part` in line 9.
use typed_transformer::{ops::mean_squared_error, prelude::*, ranks, ranks::Shard};

ranks! { World; }
dims! { EmbedDim = 8; Batch; }

type Part = Shard<Batch, World>;
type Rows = Part;

fn loss(x: Tensor<(Rows, EmbedDim), f32, Cpu>, y: &Tensor<(Rows, EmbedDim), f32, Cpu>) {
    let _ = mean_squared_error(x, y).unwrap();
}

fn main() {}
