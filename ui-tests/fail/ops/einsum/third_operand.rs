//! The third operand has the axes that are written for it.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; }

fn bilinear(
    x: &Tensor<(EmbedDim,), f32, Cpu>,
    weight: &Tensor<(EmbedDim, HiddenDim), f32, Cpu>,
    y: &Tensor<(TgtLen, HiddenDim), f32, Cpu>,
) -> Tensor<(SrcLen,), f32, Cpu> {
    einsum!(x: (EmbedDim), weight: (EmbedDim, HiddenDim), y: (SrcLen, HiddenDim) -> (SrcLen))
}

fn main() {}
