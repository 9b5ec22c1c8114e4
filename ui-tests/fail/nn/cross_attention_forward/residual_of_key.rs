//! The residual of cross-attention adds the query, not the key.
//! Right with `query` for `key` in line 15.
use typed_transformer::prelude::*;

dims! { SrcLen; TgtLen; EmbedDim = 8; Batch; }

fn block<A: Arch>(
    attention: &CrossAttention<EmbedDim, EmbedDim, A, f32, Cpu>,
    query: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    query_padding: &PaddingMask<Batch, TgtLen>,
    key_padding: &PaddingMask<Batch, SrcLen>,
) -> Result<Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>, OpError> {
    let attended = attention.forward(query.clone(), key.clone(), query_padding, key_padding)?;
    residual(key, attended)
}

fn main() {}
