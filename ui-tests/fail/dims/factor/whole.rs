//! The whole of a shard is the dimension that it is a part of.
//! Covers `Whole` of `dims::Factor`.
//! Right with `HiddenDim` for `EmbedDim` in line 13.
use typed_transformer::{dims::Factor, prelude::*, ranks, ranks::Shard};

ranks! { Tp = 2; }
dims! { EmbedDim = 16; HiddenDim = 16; }

fn whole<Columns: Factor>(_: Columns) -> Columns::Whole {
    Default::default()
}

fn f(part: Shard<HiddenDim, Tp>) -> EmbedDim {
    whole(part)
}

fn main() {}
