//! The residual of cross-attention adds the query, not the key.
//! Right with `query` for `key` in line 16.
use typed_transformer::prelude::*;

dims! { SrcLen; TgtLen; EmbedDim = 8; Batch; }

fn block<A: Arch>(
    attention: &CrossAttention<EmbedDim, EmbedDim, A, f32, Cpu>,
    query: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    query_padding: &PaddingMask<Batch, TgtLen>,
    key_padding: &PaddingMask<Batch, SrcLen>,
) -> Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> {
    let (asking, asked) = (query.clone(), key.clone());
    let answers = attention.forward(asking, asked, query_padding, key_padding);
    residual(key, answers)
}

fn main() {}
