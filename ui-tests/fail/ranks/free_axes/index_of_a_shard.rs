//! An index counts from the start of the whole axis, not of this rank's part.
//! Right with `Batch` for `Part` in line 9.
use typed_transformer::{ops::select, prelude::*, ranks, ranks::Shard};

ranks! { World; }
dims! { EmbedDim = 8; Batch; }

type Part = Shard<Batch, World>;
type Rows = Part;

fn first(x: Tensor<(Rows, EmbedDim), f32, Cpu>) -> Result<Tensor<(EmbedDim,), f32, Cpu>, OpError> {
    select(x, axis::<Rows>(), 0)
}

fn main() {}
