//! Columns that are divided among the ranks are shards.
//! Covers `Self` of `ranks::ShardedColumns`.
//! Right with `Part` for `HiddenDim` in line 14.
use typed_transformer::{prelude::*, ranks, ranks::{Shard, ShardedColumns}};

ranks! { Tp = 2; }
dims! { HiddenDim = 16; }

type Part = Shard<HiddenDim, Tp>;

fn are_shared<Columns: ShardedColumns>() {}

fn f() {
    are_shared::<HiddenDim>();
}

fn main() {}
