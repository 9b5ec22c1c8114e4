//! What is broadcast fits the other axes of the shape.
//! Proves `Less` of `ops::broadcast`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn spread(
    bias: Tensor<(SrcLen, EmbedDim), f32, Cpu>,
    batch: Batch,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    broadcast(bias, (batch, SrcLen, EmbedDim), axis::<Batch>())
}

fn main() {}
