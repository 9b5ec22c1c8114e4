//! A layer belongs to one architecture.
//! Covers `A` of `nn::GroupedQueryAttention`.
//! Right with `Small` for `Other` in line 40.
use typed_transformer::{
    nn::{GroupedQuery, GroupedQueryAttention},
    prelude::*,
};

dims! {
    EmbedDim = 8; NumKeyValueHeads = 2; GroupSize = 3; HeadDim = 4; HiddenDim = 16;
    Batch;
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

fn layer(layer: &GroupedQueryAttention<EmbedDim, CausalMask, Other, f32, Cpu>) {
    let _layer: &GroupedQueryAttention<EmbedDim, CausalMask, Small, f32, Cpu> = layer;
}

fn main() {}
