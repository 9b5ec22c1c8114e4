//! The mean over real positions is told which are real by the padding of the same sequence.
//! Proves `S` of `ops::masked_mean`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; SrcLen = 4; TgtLen = 4; Batch; }

fn pool(
    features: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<Batch, SrcLen>,
) -> Tensor<(Batch, EmbedDim), f32, Cpu> {
    masked_mean(features, padding)
}

fn main() {}
