//! A broadcast adds an axis of the result.
//! Covers `Name` of `ops::broadcast`.
//! Right with `Batch` for `TgtLen` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn spread(bias: Tensor<(SrcLen, EmbedDim), f32, Cpu>, batch: Batch) {
    let _biases = broadcast(bias, (batch, SrcLen, EmbedDim), axis::<TgtLen>());
}

fn main() {}
