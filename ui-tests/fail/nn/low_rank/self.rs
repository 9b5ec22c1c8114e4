//! The rank of an adapter is below a dimension of the map.
//! Covers `Self` of `nn::LowRank`.
//! Right with `Rank` for `High` in line 11.
use typed_transformer::{nn::LowRank, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 6; Rank = 2; High = 7; }

fn adapt<R: LowRank<HiddenDim>>() {}

fn adapt_all() {
    adapt::<High>();
}

fn main() {}
