//! The whole of a shard is the dimension that it is a part of.
//! Covers `Whole` of `ranks::ShardedColumns`.
//! Right with `HiddenDim` for `EmbedDim` in line 11.
use typed_transformer::{prelude::*, ranks, ranks::{Shard, ShardedColumns}};

ranks! { Tp = 2; }
dims! { EmbedDim = 16; HiddenDim = 16; }

type Part = Shard<HiddenDim, Tp>;

fn are_of<Columns: ShardedColumns<Whole = EmbedDim>>() {}

fn f() {
    are_of::<Part>();
}

fn main() {}
