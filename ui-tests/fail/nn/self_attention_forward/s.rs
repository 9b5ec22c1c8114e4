//! Self-attention uses the padding of its own sequence.
//! Covers `S` of `nn::SelfAttention::forward`.
//! Right with `TgtLen` for `SrcLen` in line 11.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; SrcLen = 4; TgtLen = 4; Batch; }

fn attend<A: Arch>(
    attention: &SelfAttention<EmbedDim, CausalMask, A, f32, Cpu>,
    target: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<Batch, SrcLen>,
) -> Result<Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>, OpError> {
    attention.forward(target, padding)
}

fn main() {}
