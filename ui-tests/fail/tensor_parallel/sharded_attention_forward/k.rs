//! The mask has the length of the key.
//! Covers `K` of `tensor_parallel::ShardedAttention::forward`.
//! Right with `KLen` for the second `QLen` in line 18.
//! Mutants cover `B` by `Batch`, `Q` by `QLen` of `tensor_parallel::ShardedAttention::forward`.
use typed_transformer::{
    prelude::*,
    ranks::Ranks,
    tensor_parallel::{DividesLayersOf, Entered, ShardedAttention},
};

dims! { EmbedDim = 8; QLen; KLen; Batch; Other; }

type In<Dims, Tp> = Entered<Tensor<Dims, f32, Cpu>, Tp>;

fn attend<Tp: DividesLayersOf<A>, A: Arch>(
    attention: &ShardedAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, A, Tp, f32, Cpu>,
    (query, key, value): (In<(Batch, QLen, EmbedDim), Tp>, In<(Batch, KLen, EmbedDim), Tp>, In<(Batch, KLen, EmbedDim), Tp>),
    mask: &AttentionMask<Batch, QLen, QLen>,
    tp: &Ranks<Tp>,
) -> Result<Tensor<(Batch, QLen, EmbedDim), f32, Cpu>, OpError> {
    attention.forward(query, key, value, mask, tp)
}

fn main() {}
