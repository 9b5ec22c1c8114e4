//! The output has the groups of the query.
//! Covers `GroupSize` of `ops::grouped_query_attention`.
//! Right with `GroupSize` for `OtherGroupSize` in line 16.
//! Mutants cover `B` by `Batch`, `K` by `SrcLen` of `ops::grouped_query_attention`.
//! Mutants cover `NumKeyValueHeads` by `NumKeyValueHeads`, `Q` by `TgtLen` of `ops::grouped_query_attention`.
//! Mutants cover `QKDim` by `QKDim`, `VODim` by `VODim` of `ops::grouped_query_attention`.
use typed_transformer::{ops::grouped_query_attention, prelude::*};

dims! {
    SrcLen = 5; TgtLen = 7; NumKeyValueHeads = 2; OtherHeads = 2; GroupSize = 3; OtherGroupSize = 3; QKDim = 10;
    VODim = 11; Batch; OtherBatch;
}
type Heads<GroupSize> = Product<NumKeyValueHeads, GroupSize>;

fn attend(
    query: Tensor<(Batch, TgtLen, Product<Heads<OtherGroupSize>, QKDim>), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, Product<NumKeyValueHeads, QKDim>), f32, Cpu>,
    value: Tensor<(Batch, SrcLen, Product<NumKeyValueHeads, VODim>), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Result<Tensor<(Batch, TgtLen, Product<Heads<GroupSize>, VODim>), f32, Cpu>, OpError> {
    grouped_query_attention(query, key, value, mask, AttentionOptions::default())
}

fn main() {}
