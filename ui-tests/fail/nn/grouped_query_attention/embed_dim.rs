//! A layer of one width does not run on another.
//! Covers `EmbedDim` of `nn::GroupedQueryAttention`.
//! Right with `EmbedDim` for `OtherDim` in line 27.
use typed_transformer::{
    nn::{GroupedQuery, GroupedQueryAttention},
    prelude::*,
};

dims! {
    EmbedDim = 8; NumKeyValueHeads = 2; GroupSize = 3; HeadDim = 4; HiddenDim = 16;
    OtherDim = 8; Batch; SrcLen = 5;
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

fn layer(layer: &GroupedQueryAttention<OtherDim, CausalMask, Small, f32, Cpu>) {
    let _layer: &GroupedQueryAttention<EmbedDim, CausalMask, Small, f32, Cpu> = layer;
}

fn main() {}
