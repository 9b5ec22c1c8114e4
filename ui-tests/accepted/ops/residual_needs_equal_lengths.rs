//! What is added to the input of a sublayer has the length of the input.
//! Proves `S` of `ops::residual`.
use typed_transformer::prelude::*;

dims! { SrcLen = 4; TgtLen = 4; EmbedDim = 8; Batch; }

fn add(
    source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    target: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    residual(source, target)
}

fn main() {}
