//! The rows of all ranks have the other dimensions of a rank's rows.
//! Covers `Dims` of `ops::gather_batch`.
//! Right with `EmbedDim` for `HiddenDim` in line 12.
//! Mutants cover `B` by `Batch` of `ops::gather_batch`.
use typed_transformer::{ops::gather_batch, prelude::*, ranks, ranks::{Ranks, Shard}};

ranks! { World; }
dims! { EmbedDim = 8; HiddenDim = 32; Other; Batch; }
type Rows = Shard<Batch, World>;

fn all(
    images: Tensor<(Rows, HiddenDim), f32, Cpu>,
    rows: Shard<Batch, World>,
    ranks: &Ranks<World>,
) {
    let _all: Tensor<(Batch, EmbedDim), f32, Cpu> = gather_batch(images, rows, ranks).unwrap();
}

fn main() {}
