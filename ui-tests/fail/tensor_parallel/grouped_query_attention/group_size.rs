//! The output has the groups of the query.
//! Covers `GroupSize` of `tensor_parallel::grouped_query_attention`.
//! Right with `GroupSize` for `OtherGroupSize` in line 24.
//! Mutants cover `B` by `Batch`, `K` by `KLen`, `Q` by `QLen` of `tensor_parallel::grouped_query_attention`.
//! Mutants cover `NumKeyValueHeads` by `NumKeyValueHeads` of `tensor_parallel::grouped_query_attention`.
//! Mutants cover `QKDim` by `QKDim`, `VODim` by `VODim` of `tensor_parallel::grouped_query_attention`.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Ranks, Shard},
    tensor_parallel::grouped_query_attention,
};

ranks! { Tp = 2; }
dims! {
    NumKeyValueHeads = 4; OtherHeads = 4; GroupSize = 3; OtherGroupSize = 3; QKDim = 10; VODim = 11; QLen; KLen;
    Batch; OtherBatch;
}

type Heads<Dims> = Tensor<Dims, f32, Cpu>;
type Groups<Size> = Product<Shard<NumKeyValueHeads, Tp>, Size>;

fn f(
    query: Heads<(Batch, QLen, Product<Groups<OtherGroupSize>, QKDim>)>,
    key: Heads<(Batch, KLen, Product<Shard<NumKeyValueHeads, Tp>, QKDim>)>,
    value: Heads<(Batch, KLen, Product<Shard<NumKeyValueHeads, Tp>, VODim>)>,
    mask: &AttentionMask<Batch, QLen, KLen>,
    ranks: &Ranks<Tp>,
) -> Result<Heads<(Batch, QLen, Product<Groups<GroupSize>, VODim>)>, OpError> {
    grouped_query_attention(query, key, value, mask, AttentionOptions::default(), ranks)
}

fn main() {}
