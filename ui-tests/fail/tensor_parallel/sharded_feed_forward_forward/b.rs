//! A feed-forward layer keeps the batch.
//! Covers `B` of `tensor_parallel::ShardedFeedForward::forward`.
//! Right with `Batch` for `Other` in line 10.
use typed_transformer::{prelude::*, ranks::Ranks, tensor_parallel::{DividesLayersOf, ShardedFeedForward}};

dims! { EmbedDim = 8; SeqLen; OtherLen; Batch; Other; }

fn transform<Tp: DividesLayersOf<A>, A: Arch>(
    layer: &ShardedFeedForward<EmbedDim, A, Tp, f32, Cpu>,
    input: Tensor<(Other, SeqLen, EmbedDim), f32, Cpu>,
    tp: &Ranks<Tp>,
) -> Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> {
    layer.forward(input, tp)
}

fn main() {}
