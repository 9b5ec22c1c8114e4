//! A feed-forward layer keeps the length.
//! Covers `S` of `tensor_parallel::ShardedFeedForward::forward`.
//! Right with `SeqLen` for `OtherLen` in line 11.
//! Mutants cover `B` by `Batch` of `tensor_parallel::ShardedFeedForward::forward`.
use typed_transformer::{prelude::*, ranks::Ranks, tensor_parallel::{DividesLayersOf, ShardedFeedForward}};

dims! { EmbedDim = 8; SeqLen; OtherLen; Batch; Other; }

fn transform<Tp: DividesLayersOf<A>, A: Arch>(
    layer: &ShardedFeedForward<EmbedDim, A, Tp, f32, Cpu>,
    input: Tensor<(Batch, OtherLen, EmbedDim), f32, Cpu>,
    tp: &Ranks<Tp>,
) -> Result<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, OpError> {
    layer.forward(input, tp)
}

fn main() {}
