//! Ranks of two axes divide a dimension in two ways.
//! Covers `Axis` of `ranks::Shard`.
//! Right with `World` for `Data` in line 10.
//! Mutants cover `Whole` by `Batch` of `ranks::Shard`.
use typed_transformer::{prelude::*, ranks, ranks::Shard};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn keep(rows: Shard<Batch, Data>) {
    let _rows: Shard<Batch, World> = rows;
}

fn main() {}
