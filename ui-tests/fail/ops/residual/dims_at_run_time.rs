//! Two run-time lengths are different dimensions, whatever their values.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen; TgtLen; EmbedDim = 8; Batch; }

fn add(
    source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    target: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    residual(source, target)
}

fn main() {}
