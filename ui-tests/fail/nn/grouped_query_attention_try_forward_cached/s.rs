//! The output has the positions of the input.
//! Covers `S` of `nn::GroupedQueryAttention::try_forward_cached`.
//! Right with `SrcLen` for `TgtLen` in line 32.
use typed_transformer::{
    nn::{GroupedKeyValueCache, GroupedQuery, GroupedQueryAttention},
    prelude::*,
};

dims! {
    EmbedDim = 8; NumKeyValueHeads = 2; GroupSize = 3; HeadDim = 4; HiddenDim = 16;
    SrcLen = 5; TgtLen = 5; MaxLen = 9; Batch;
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
    x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    cache: &mut GroupedKeyValueCache<Batch, MaxLen, Small, f32, Cpu>,
) {
    let _decoded: Result<Tensor<(Batch, TgtLen, EmbedDim), _, _>, _> = layer.try_forward_cached(x, cache);
}

fn main() {}
