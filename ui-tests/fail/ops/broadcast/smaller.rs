//! A broadcast input has the result's other axes.
//! Covers `Smaller` of `ops::broadcast`.
//! Right with `EmbedDim` for `HiddenDim` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn spread(
    bias: Tensor<(SrcLen, HiddenDim), f32, Cpu>,
    batch: Batch,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    broadcast(bias, (batch, SrcLen, EmbedDim), axis::<Batch>())
}

fn main() {}
