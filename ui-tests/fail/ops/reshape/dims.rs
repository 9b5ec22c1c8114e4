//! A named axis becomes another one of its size by its new name only.
//! Covers `Dims` of `ops::reshape`.
//! Right with `EmbedDim` for `GateDim` in line 9.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; GateDim = 8; SrcLen = 5; Batch; }

fn rows(
    input: Tensor<(Batch, SrcLen, GateDim), f32, Cpu>,
    batch: Batch,
) -> Result<Tensor<(Batch, Product<SrcLen, EmbedDim>), f32, Cpu>, OpError> {
    reshape(input, (batch, Product::default()))
}

fn main() {}
