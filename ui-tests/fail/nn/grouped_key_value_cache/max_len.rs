//! A cache has one capacity.
//! Covers `MaxLen` of `nn::GroupedKeyValueCache`.
//! Right with `MaxLen` for `OtherLen` in line 27.
use typed_transformer::{
    nn::{GroupedKeyValueCache, GroupedQuery},
    prelude::*,
};

dims! {
    EmbedDim = 8; NumKeyValueHeads = 2; GroupSize = 3; HeadDim = 4; HiddenDim = 16;
    MaxLen = 9; OtherLen = 9; Batch;
}

struct Small;
impl Arch for Small {
    type NumHeads = Product<NumKeyValueHeads, GroupSize>;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}
impl GroupedQuery for Small {
    type NumKeyValueHeads = NumKeyValueHeads;
    type GroupSize = GroupSize;
}

fn cache(cache: &GroupedKeyValueCache<Batch, OtherLen, Small, f32, Cpu>) {
    let _cache: &GroupedKeyValueCache<Batch, MaxLen, Small, f32, Cpu> = cache;
}

fn main() {}
