//! A norm keeps all axes.
//! Covers `Dims` of `nn::Norm::forward`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn normalize<A: Arch>(
    norm: &Norm<EmbedDim, A, f32, Cpu>,
    input: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    norm.forward(input)
}

fn main() {}
