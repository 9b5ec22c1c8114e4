//! A cache has one capacity.
//! Covers `MaxLen` of `nn::GroupedQueryAttention::forward_cached`.
//! Right with `MaxLen` for `OtherLen` in line 31.
//! Mutants cover `B` by `Batch`, `S` by `SrcLen` of `nn::GroupedQueryAttention::forward_cached`.
use typed_transformer::{
    nn::{GroupedKeyValueCache, GroupedQuery, GroupedQueryAttention},
    prelude::*,
};

dims! {
    EmbedDim = 8; NumKeyValueHeads = 2; GroupSize = 3; HeadDim = 4; HiddenDim = 16;
    SrcLen = 5; MaxLen = 9; OtherLen = 9; Batch;
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

type Cache<MaxLen> = GroupedKeyValueCache<Batch, MaxLen, Small, f32, Cpu>;
type Layer = GroupedQueryAttention<EmbedDim, CausalMask, Small, f32, Cpu>;

fn decode(layer: &Layer, x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, cache: &mut Cache<OtherLen>) {
    let _decoded = layer.forward_cached::<Batch, SrcLen, MaxLen>(x, cache);
}

fn main() {}
