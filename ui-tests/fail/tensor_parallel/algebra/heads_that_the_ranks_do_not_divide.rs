//! The ranks divide the heads that they share.
//! Right with `Two` for `Three` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Shard};

ranks! { Two = 2; Three = 3; }
dims! { NumHeads = 8; }

fn heads_of_a_rank() -> usize {
    Shard::<NumHeads, Three>::default().size()
}

fn main() {}
