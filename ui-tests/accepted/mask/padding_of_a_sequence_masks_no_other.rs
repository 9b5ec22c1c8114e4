//! What is padding in the source says nothing about the target.
//! Proves `S` of `nn::SelfAttention::forward`.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; SrcLen = 4; TgtLen = 4; Batch; }

fn attend<A: Arch>(
    attention: &SelfAttention<EmbedDim, CausalMask, A, f32, Cpu>,
    target: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<Batch, TgtLen>,
) -> Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> {
    attention.forward(target, padding)
}

fn main() {}
