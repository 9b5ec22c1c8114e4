//! A projection keeps all axes but the last.
//! Covers `Dims` of `nn::Projection::forward`.
//! Right with `SrcLen` for `TgtLen` in line 11.
use typed_transformer::{nn::{AttentionProjection, Projection}, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; HiddenDim = 32; Batch; }

type QueryProj<A> = Projection<EmbedDim, HiddenDim, AttentionProjection<A>, f32, Cpu>;

fn project<A: Arch>(projection: &QueryProj<A>, input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) {
    let _hidden: Tensor<(Batch, TgtLen, HiddenDim), f32, Cpu> = projection.forward(input).unwrap();
}

fn main() {}
