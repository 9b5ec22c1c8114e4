//! Attention compares queries and keys of the same width.
//! Covers `QKDim` of `ops::grouped_query_attention_with_bias`.
//! Right with `QKDim` for `VODim` in line 14.
use typed_transformer::{ops::grouped_query_attention_with_bias, prelude::*};

dims! {
    SrcLen = 5; TgtLen = 7; NumKeyValueHeads = 2; OtherHeads = 2; GroupSize = 3; OtherGroupSize = 3; QKDim = 10;
    VODim = 11; Batch; OtherBatch;
}
type Heads<GroupSize> = Product<NumKeyValueHeads, GroupSize>;

fn attend(
    query: Tensor<(Batch, TgtLen, Product<Heads<GroupSize>, QKDim>), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, Product<NumKeyValueHeads, VODim>), f32, Cpu>,
    value: Tensor<(Batch, SrcLen, Product<NumKeyValueHeads, VODim>), f32, Cpu>,
    bias: Tensor<(Heads<GroupSize>, TgtLen, SrcLen), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Tensor<(Batch, TgtLen, Product<Heads<GroupSize>, VODim>), f32, Cpu> {
    grouped_query_attention_with_bias(query, key, value, bias, mask, AttentionScale::HeadDim, MaskFill::MinValue, 0.0)
}

fn main() {}
