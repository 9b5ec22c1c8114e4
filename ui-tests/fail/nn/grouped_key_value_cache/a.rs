//! A cache belongs to one architecture.
//! Covers `A` of `nn::GroupedKeyValueCache`.
//! Right with `Small` for `Other` in line 40.
use typed_transformer::{
    nn::{GroupedKeyValueCache, GroupedQuery},
    prelude::*,
};

dims! {
    EmbedDim = 8; NumKeyValueHeads = 2; GroupSize = 3; HeadDim = 4; HiddenDim = 16;
    MaxLen = 9; Batch;
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

struct Other;
impl Arch for Other {
    type NumHeads = Product<NumKeyValueHeads, GroupSize>;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}
impl GroupedQuery for Other {
    type NumKeyValueHeads = NumKeyValueHeads;
    type GroupSize = GroupSize;
}

fn cache(cache: &GroupedKeyValueCache<Batch, MaxLen, Other, f32, Cpu>) {
    let _cache: &GroupedKeyValueCache<Batch, MaxLen, Small, f32, Cpu> = cache;
}

fn main() {}
