//! The rank of an adapter is below a dimension of the map.
//! Covers `Bound` of `nn::LowRank`.
//! Right with `EmbedDim` for `Narrow` in line 8.
use typed_transformer::{nn::LowRank, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 6; Rank = 2; Narrow = 1; }

fn adapt<R: LowRank<Narrow>>() {}

fn adapt_all() {
    adapt::<Rank>();
}

fn main() {}
