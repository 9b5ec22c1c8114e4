//! Columns are divided among the ranks of one axis.
//! Covers `Axis` of `ranks::ShardedColumns`.
//! Right with `Tp` for `Other` in line 11.
use typed_transformer::{prelude::*, ranks, ranks::{Ranks, Shard, ShardedColumns}};

ranks! { Other = 2; Tp = 2; }
dims! { HiddenDim = 16; }

fn gather<Columns: ShardedColumns>(_: Columns, _: &Ranks<Columns::Axis>) {}

fn f(part: Shard<HiddenDim, Tp>, ranks: &Ranks<Other>) {
    gather(part, ranks);
}

fn main() {}
