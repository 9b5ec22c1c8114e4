//! A shape is broadcast to by what it has besides a new axis.
//! Proves `Dims` of `ops::broadcast`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn spread(
    bias: Tensor<(SrcLen, EmbedDim), f32, Cpu>,
    batch: Batch,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    broadcast(bias, (batch, TgtLen, EmbedDim), axis::<Batch>())
}

fn main() {}
