//! The value has the length of the key.
//! Covers `K` of `tensor_parallel::multi_head_attention`.
//! Right with `KLen` for `QLen` in line 21.
//! Mutants cover `B` by `Batch`, `H` by `NumHeads` of `tensor_parallel::multi_head_attention`.
//! Mutants cover `Q` by `QLen`, `QKDim` by `QKDim`, `VODim` by `VODim` of `tensor_parallel::multi_head_attention`.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Ranks, Shard},
    tensor_parallel::multi_head_attention,
};

ranks! { Tp = 2; }
dims! { NumHeads = 4; QKDim = 2; VODim = 3; QLen; KLen; Batch; }

type Heads<Dims> = Tensor<Dims, f32, Cpu>;

fn f(
    query: Heads<(Batch, QLen, Product<Shard<NumHeads, Tp>, QKDim>)>,
    key: Heads<(Batch, KLen, Product<Shard<NumHeads, Tp>, QKDim>)>,
    value: Heads<(Batch, QLen, Product<Shard<NumHeads, Tp>, VODim>)>,
    mask: &AttentionMask<Batch, QLen, KLen>,
    ranks: &Ranks<Tp>,
) -> Result<Heads<(Batch, QLen, Product<Shard<NumHeads, Tp>, VODim>)>, OpError> {
    multi_head_attention(query, key, value, mask, AttentionOptions::default(), ranks)
}

fn main() {}
