//! A norm makes no other batch.
//! Proves `B` of `nn::Norm::forward`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

fn normalize<A: Arch>(
    norm: &Norm<EmbedDim, A, f32, Cpu>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    norm.forward(input)
}

fn main() {}
