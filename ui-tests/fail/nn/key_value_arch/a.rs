//! The architecture of keys and values belongs to one model.
//! Covers `A` of `nn::KeyValueArch`.
//! Right with `Small` for `Other` in line 40.
use typed_transformer::{
    nn::{GroupedQuery, KeyValueArch, KeyValueCache},
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

fn cache(cache: &KeyValueCache<Batch, MaxLen, KeyValueArch<Other>, f32, Cpu>) {
    let _cache: &KeyValueCache<Batch, MaxLen, KeyValueArch<Small>, f32, Cpu> = cache;
}

fn main() {}
