//! A norm reads embeddings of its own width.
//! Covers `EmbedDim` of `nn::Norm`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; HiddenDim = 8; SeqLen; Batch; }

fn normalize<A: Arch>(
    norm: &Norm<EmbedDim, A, f32, Cpu>,
    input: Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, OpError> {
    norm.forward(input)
}

fn main() {}
