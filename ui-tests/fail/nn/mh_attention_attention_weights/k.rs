//! Multi-head attention weights use a mask with one column per key.
//! Covers `K` of `nn::MHAttention::attention_weights`.
//! Right with `SrcLen` for the second `TgtLen` in line 13.
//! Mutants cover `B` by `Batch`, `Q` by `TgtLen` of `nn::MHAttention::attention_weights`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; OtherBatch; }

fn weigh<A: Arch>(
    attention: &MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, A, f32, Cpu>,
    query: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, TgtLen>,
) {
    let _weights = attention.attention_weights(query, key, mask);
}

fn main() {}
