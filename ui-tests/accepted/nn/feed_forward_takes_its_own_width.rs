//! A feed-forward block takes embeddings of its width.
//! Proves `EmbedDim` of `nn::FeedForward`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; HiddenDim = 8; SeqLen; Batch; }

fn transform<A: Arch>(
    feed_forward: &FeedForward<EmbedDim, A, f32, Cpu>,
    input: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> {
    feed_forward.forward(input)
}

fn main() {}
