//! Cross-attention weights use the padding of the keys.
//! Covers `K` of `nn::CrossAttention::attention_weights`.
//! Right with `SrcLen` for `TgtLen` in line 14.
//! Mutants cover `B` by `Batch`, `Q` by `TgtLen` of `nn::CrossAttention::attention_weights`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; OtherBatch; }

fn weigh<A: Arch>(
    attention: &CrossAttention<EmbedDim, EmbedDim, A, f32, Cpu>,
    query: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    query_padding: &PaddingMask<Batch, TgtLen>,
    source_padding: &PaddingMask<Batch, TgtLen>,
) {
    let _weights = attention.attention_weights(query, source, query_padding, source_padding);
}

fn main() {}
