//! The padding is that of the sequence.
//! Covers `S` of `nn::GroupedQueryAttention::forward`.
//! Right with `SrcLen` for `TgtLen` in line 30.
//! Mutants cover `B` by `Batch` of `nn::GroupedQueryAttention::forward`.
use typed_transformer::{
    nn::{GroupedQuery, GroupedQueryAttention},
    prelude::*,
};

dims! {
    EmbedDim = 8; NumKeyValueHeads = 2; GroupSize = 3; HeadDim = 4; HiddenDim = 16;
    SrcLen = 5; TgtLen = 5; Batch;
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

fn attend(
    layer: &GroupedQueryAttention<EmbedDim, CausalMask, Small, f32, Cpu>,
    x: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<Batch, SrcLen>,
) {
    layer.forward(x, padding).unwrap();
}

fn main() {}
