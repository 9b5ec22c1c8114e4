//! The rows that a mean is told are those of its tensor.
//! Covers `B` of `ops::partial_mean`.
//! Right with `Batch` for `Other` in line 13.
//! Mutants cover `Dims` by `Batch` of `ops::partial_mean`.
use typed_transformer::{ops::partial_mean, prelude::*, ranks, ranks::{Partial, Shard}};

ranks! { World; }
dims! { EmbedDim = 8; Other; Batch; }
type Term = Partial<Tensor<(), f32, Cpu>, World>;

fn term(
    losses: Tensor<(Shard<Batch, World>, EmbedDim), f32, Cpu>,
    rows: Shard<Other, World>,
) -> Result<Term, OpError> {
    partial_mean(losses, rows)
}

fn main() {}
