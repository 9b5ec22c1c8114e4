//! The whole of a shard is the dimension that it is a part of.
//! Covers `Whole` of `ranks::ShardedColumns`.
//! Right with `HiddenDim` for `EmbedDim` in line 14.
//! Mutants cover `Axis` by `Tp` of `ranks::ShardedColumns`.
use typed_transformer::{prelude::*, ranks, ranks::{Shard, ShardedColumns}};

ranks! { Tp = 2; }
dims! { EmbedDim = 16; HiddenDim = 16; }

fn whole<Columns: ShardedColumns>(_: Columns) -> Columns::Whole {
    Default::default()
}

fn f(part: Shard<HiddenDim, Tp>) -> EmbedDim {
    whole(part)
}

fn main() {}
