//! What is summed is an axis of the tensor.
//! Proves `Name` of `ops::sum_over`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn sum(scores: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) {
    let _sum: Tensor<(Batch, EmbedDim), f32, Cpu> = sum_over(scores, axis::<SrcLen>());
}

fn main() {}
