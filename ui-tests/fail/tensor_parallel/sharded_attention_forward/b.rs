//! Query and key are of one batch.
//! Covers `B` of `tensor_parallel::ShardedAttention::forward`.
//! Right with `Batch` for `Other` in line 16.
use typed_transformer::{
    prelude::*,
    ranks::Ranks,
    tensor_parallel::{DividesLayersOf, Entered, ShardedAttention},
};

dims! { EmbedDim = 8; QLen; KLen; Batch; Other; }

type In<Dims, Tp> = Entered<Tensor<Dims, f32, Cpu>, Tp>;

fn attend<Tp: DividesLayersOf<A>, A: Arch>(
    attention: &ShardedAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, A, Tp, f32, Cpu>,
    (query, key, value): (In<(Batch, QLen, EmbedDim), Tp>, In<(Other, KLen, EmbedDim), Tp>, In<(Batch, KLen, EmbedDim), Tp>),
    mask: &AttentionMask<Batch, QLen, KLen>,
    tp: &Ranks<Tp>,
) -> Tensor<(Batch, QLen, EmbedDim), f32, Cpu> {
    attention.forward(query, key, value, mask, tp)
}

fn main() {}
