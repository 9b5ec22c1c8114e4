//! A projection keeps all axes but the last.
//! Covers `Dims` of `nn::Projection::forward`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{nn::{AttentionProjection, Projection}, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; Batch; }

fn project<A: Arch>(
    projection: &Projection<EmbedDim, HiddenDim, AttentionProjection<A>, f32, Cpu>,
    input: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> {
    projection.forward(input)
}

fn main() {}
