//! A tensor is broadcast along an axis of the shape.
//! Proves `Name` of `ops::broadcast`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn spread(bias: Tensor<(SrcLen, EmbedDim), f32, Cpu>, batch: Batch) {
    let _biases = broadcast(bias, (batch, SrcLen, EmbedDim), axis::<TgtLen>());
}

fn main() {}
