//! A norm keeps the batch.
//! Covers `B` of `nn::Norm::forward`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn normalize<A: Arch>(
    norm: &Norm<EmbedDim, A, f32, Cpu>,
    input: Tensor<(OtherBatch, SrcLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    norm.forward(input)
}

fn main() {}
