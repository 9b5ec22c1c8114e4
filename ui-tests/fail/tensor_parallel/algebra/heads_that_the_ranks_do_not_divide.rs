//! The ranks divide the heads that are divided among them.
//! Right with `Two` for `Three` in line 11.
use typed_transformer::{dims::Factor, prelude::*, ranks, ranks::Shard};

ranks! { Two = 2; Three = 3; }
dims! { NumHeads = 8; }

fn columns<Heads: Factor>() {}

fn f() {
    columns::<Shard<NumHeads, Three>>();
}

fn main() {}
