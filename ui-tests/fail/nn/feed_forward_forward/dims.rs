//! A feed-forward block keeps the sequence length.
//! Covers `Dims` of `nn::FeedForward::forward`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn transform<A: Arch>(
    feed_forward: &FeedForward<EmbedDim, A, f32, Cpu>,
    input: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    feed_forward.forward(input)
}

fn main() {}
