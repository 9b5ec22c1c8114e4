//! A feed-forward block reads embeddings of its own width.
//! Covers `EmbedDim` of `nn::FeedForward`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; HiddenDim = 8; SeqLen; Batch; }

fn transform<A: Arch>(
    feed_forward: &FeedForward<EmbedDim, A, f32, Cpu>,
    input: Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, OpError> {
    feed_forward.forward(input)
}

fn main() {}
