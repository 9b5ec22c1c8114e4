//! The cache is that of the batch.
//! Covers `B` of `nn::GroupedQueryAttention::try_forward_cached`.
//! Right with `Batch` for `OtherBatch` in line 29.
use typed_transformer::{
    nn::{GroupedKeyValueCache, GroupedQuery, GroupedQueryAttention},
    prelude::*,
};

dims! {
    EmbedDim = 8; NumKeyValueHeads = 2; GroupSize = 3; HeadDim = 4; HiddenDim = 16;
    SrcLen = 5; MaxLen = 9; Batch; OtherBatch;
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

fn decode(
    layer: &GroupedQueryAttention<EmbedDim, CausalMask, Small, f32, Cpu>,
    x: Tensor<(OtherBatch, SrcLen, EmbedDim), f32, Cpu>,
    cache: &mut GroupedKeyValueCache<Batch, MaxLen, Small, f32, Cpu>,
) {
    let _decoded = layer.try_forward_cached(x, cache);
}

fn main() {}
