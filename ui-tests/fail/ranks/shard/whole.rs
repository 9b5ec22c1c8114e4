//! A shard is one of its own dimension.
//! Covers `Whole` of `ranks::Shard`.
//! Right with `Batch` for `Rows` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Shard};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn keep(rows: Shard<Rows, World>) {
    let _rows: Shard<Batch, World> = rows;
}

fn main() {}
