//! A projection keeps the batch.
//! Covers `B` of `nn::Projection::forward`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{nn::{AttentionProjection, Projection}, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; OtherBatch; }

fn project<A: Arch>(
    projection: &Projection<EmbedDim, HiddenDim, AttentionProjection<A>, f32, Cpu>,
    input: Tensor<(OtherBatch, SrcLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu> {
    projection.forward(input)
}

fn main() {}
