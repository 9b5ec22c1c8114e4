//! The second operand has the axes that are written for it.
//! Right with `HiddenDim` for `TgtLen` in line 9.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; Batch; }

fn map(
    x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    weight: &Tensor<(TgtLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu>, OpError> {
    einsum!(x: (Batch, SrcLen, EmbedDim), weight: (HiddenDim, EmbedDim) -> (Batch, SrcLen, HiddenDim))
}

fn main() {}
