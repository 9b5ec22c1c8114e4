//! Multi-head attention weights use a mask of their own batch.
//! Covers `B` of `nn::MHAttention::try_attention_weights`.
//! Right with `Batch` for `OtherBatch` in line 12.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; OtherBatch; }

fn weigh<A: Arch>(
    attention: &MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, A, f32, Cpu>,
    query: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    mask: &AttentionMask<OtherBatch, TgtLen, SrcLen>,
) {
    let _weights = attention.try_attention_weights(query, key, mask);
}

fn main() {}
