//! What is compared is an axis of the tensor.
//! Proves `Name` of `ops::max_over`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn maximum(scores: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) {
    let _maximum: Tensor<(Batch, EmbedDim), f32, Cpu> = max_over(scores, axis::<SrcLen>());
}

fn main() {}
