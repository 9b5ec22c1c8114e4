//! A projection returns vectors of its output width.
//! Covers `OutDim` of `nn::Projection`.
//! Right with `HiddenDim` for `SrcDim` in line 9.
use typed_transformer::{nn::{AttentionProjection, Projection}, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; SrcDim = 24; Batch; }

fn project<A: Arch>(
    projection: &Projection<EmbedDim, SrcDim, AttentionProjection<A>, f32, Cpu>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) {
    let _mapped: Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> = projection.forward(input).unwrap();
}

fn main() {}
