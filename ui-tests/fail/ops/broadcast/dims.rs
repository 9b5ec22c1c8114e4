//! The broadcast result has the axes of the input beside the new axis.
//! Covers `Dims` of `ops::broadcast`.
//! Right with `SrcLen` for `TgtLen` in line 13.
//! Mutants cover `Name` by `Batch`, `Smaller` by `EmbedDim` of `ops::broadcast`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn spread(
    bias: Tensor<(SrcLen, EmbedDim), f32, Cpu>,
    batch: Batch,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    broadcast(bias, (batch, TgtLen, EmbedDim), axis::<Batch>())
}

fn main() {}
