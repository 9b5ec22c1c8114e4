//! The rank of an adapter is below both dimensions of the map.
//! Covers `OutDim` of `nn::LowRank`.
//! Right with `HiddenDim` for `Narrow` in line 8.
use typed_transformer::{nn::LowRank, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 6; Rank = 2; Narrow = 1; }

fn adapt<R: LowRank<EmbedDim, Narrow>>() {}

fn adapt_all() {
    adapt::<Rank>();
}

fn main() {}
