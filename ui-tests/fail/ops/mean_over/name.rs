//! A mean is taken over an axis of the tensor.
//! Covers `Name` of `ops::mean_over`.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn mean(scores: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) {
    let _mean: Tensor<(Batch, EmbedDim), f32, Cpu> = mean_over(scores, axis::<TgtLen>());
}

fn main() {}
