//! Columns are shared by the ranks of one axis.
//! Covers `Axis` of `ranks::ShardedColumns`.
//! Right with `Tp` for `Other` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::{Shard, ShardedColumns}};

ranks! { Other = 2; Tp = 2; }
dims! { HiddenDim = 16; }

fn are_shared<Columns: ShardedColumns<Axis = Other>>() {}

fn f() {
    are_shared::<Shard<HiddenDim, Tp>>();
}

fn main() {}
