//! A residual adds sequences of the same length.
//! Covers `Dims` of `ops::residual`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 4; TgtLen = 4; EmbedDim = 8; Batch; }

fn add(
    source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    target: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    residual(source, target)
}

fn main() {}
