//! A feed-forward block keeps the batch.
//! Covers `B` of `nn::FeedForward::forward`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn transform<A: Arch>(
    feed_forward: &FeedForward<EmbedDim, A, f32, Cpu>,
    input: Tensor<(OtherBatch, SrcLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    feed_forward.forward(input)
}

fn main() {}
