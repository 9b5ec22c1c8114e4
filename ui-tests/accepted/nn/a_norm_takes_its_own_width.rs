//! A norm takes embeddings of its width.
//! Proves `EmbedDim` of `nn::Norm`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; HiddenDim = 8; SeqLen; Batch; }

fn normalize<A: Arch>(
    norm: &Norm<EmbedDim, A, f32, Cpu>,
    input: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
) -> Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> {
    norm.forward(input)
}

fn main() {}
