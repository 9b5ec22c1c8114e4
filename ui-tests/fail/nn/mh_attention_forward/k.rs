//! Multi-head attention reads one value per key.
//! Covers `K` of `nn::MHAttention::forward`.
//! Right with `SrcLen` for `TgtLen` in line 13.
//! Mutants cover `B` by `Batch`, `Q` by `TgtLen` of `nn::MHAttention::forward`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn attend<A: Arch>(
    attention: &MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, A, f32, Cpu>,
    query: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    value: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Result<Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>, OpError> {
    attention.forward(query, key, value, mask)
}

fn main() {}
