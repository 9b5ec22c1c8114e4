//! A sum is taken over an axis of the tensor.
//! Covers `Name` of `ops::sum_over`.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn sum(scores: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) {
    let _sum: Tensor<(Batch, EmbedDim), f32, Cpu> = sum_over(scores, axis::<TgtLen>());
}

fn main() {}
