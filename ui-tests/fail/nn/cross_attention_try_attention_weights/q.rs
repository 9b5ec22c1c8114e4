//! Cross-attention weights use the padding of the queries.
//! Covers `Q` of `nn::CrossAttention::try_attention_weights`.
//! Right with `TgtLen` for `SrcLen` in line 12.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; OtherBatch; }

fn weigh<A: Arch>(
    attention: &CrossAttention<EmbedDim, EmbedDim, A, f32, Cpu>,
    query: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    query_padding: &PaddingMask<Batch, SrcLen>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) {
    let _weights = attention.try_attention_weights(query, source, query_padding, source_padding);
}

fn main() {}
