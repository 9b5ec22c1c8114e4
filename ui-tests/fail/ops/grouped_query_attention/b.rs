//! The mask is that of the batch.
//! Covers `B` of `ops::grouped_query_attention`.
//! Right with `Batch` for `OtherBatch` in line 16.
use typed_transformer::{ops::grouped_query_attention, prelude::*};

dims! {
    SrcLen = 5; TgtLen = 7; NumKeyValueHeads = 2; OtherHeads = 2; GroupSize = 3; OtherGroupSize = 3; QKDim = 10;
    VODim = 11; Batch; OtherBatch;
}
type Heads<GroupSize> = Product<NumKeyValueHeads, GroupSize>;

fn attend(
    query: Tensor<(Batch, TgtLen, Product<Heads<GroupSize>, QKDim>), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, Product<NumKeyValueHeads, QKDim>), f32, Cpu>,
    value: Tensor<(Batch, SrcLen, Product<NumKeyValueHeads, VODim>), f32, Cpu>,
    mask: &AttentionMask<OtherBatch, TgtLen, SrcLen>,
) -> Tensor<(Batch, TgtLen, Product<Heads<GroupSize>, VODim>), f32, Cpu> {
    grouped_query_attention(query, key, value, mask, AttentionScale::HeadDim, MaskFill::MinValue, 0.0)
}

fn main() {}
