//! The ranks divide the heads that are divided among them.
//! Right with `Two` for `Three` in line 11.
use typed_transformer::{prelude::*, ranks, ranks::{Shard, ShardedColumns}};

ranks! { Two = 2; Three = 3; }
dims! { NumHeads = 8; }

fn columns<Heads: ShardedColumns>() {}

fn f() {
    columns::<Shard<NumHeads, Three>>();
}

fn main() {}
