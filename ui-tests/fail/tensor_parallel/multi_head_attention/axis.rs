//! The heads are those of the ranks.
//! Covers `Axis` of `tensor_parallel::multi_head_attention`.
//! Right with `Tp` for `Other` in line 21.
use typed_transformer::{
    prelude::*,
    ranks,
    ranks::{Ranks, Shard},
    tensor_parallel::multi_head_attention,
};

ranks! { Other = 2; Tp = 2; }
dims! { NumHeads = 4; QKDim = 2; VODim = 3; QLen; KLen; Batch; }

type Heads<Dims> = Tensor<Dims, f32, Cpu>;

fn f(
    query: Heads<(Batch, QLen, Product<Shard<NumHeads, Tp>, QKDim>)>,
    key: Heads<(Batch, KLen, Product<Shard<NumHeads, Tp>, QKDim>)>,
    value: Heads<(Batch, KLen, Product<Shard<NumHeads, Tp>, VODim>)>,
    mask: &AttentionMask<Batch, QLen, KLen>,
    ranks: &Ranks<Other>,
) -> Heads<(Batch, QLen, Product<Shard<NumHeads, Tp>, VODim>)> {
    multi_head_attention(query, key, value, mask, AttentionScale::HeadDim, MaskFill::MinValue, 0.0, ranks)
}

fn main() {}
