//! A single operand has the axes that are written.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::prelude::*;

dims! { Batch; SrcLen; TgtLen; EmbedDim = 8; }

fn sum(x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) -> Result<Tensor<(EmbedDim,), f32, Cpu>, OpError> {
    einsum!(x: (Batch, TgtLen, EmbedDim) -> (EmbedDim))
}

fn main() {}
