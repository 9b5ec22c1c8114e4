//! A query is compared with keys.
//! Right with `key` for the first `value` in line 14.
use typed_transformer::{ops::grouped_query_attention, prelude::*};

dims! { NumKeyValueHeads = 2; GroupSize = 4; QKDim = 8; VODim = 8; }
type QueryHeads = Product<NumKeyValueHeads, GroupSize>;

fn attend<B: Dim, S: Dim>(
    query: Tensor<(B, S, Product<QueryHeads, QKDim>), f32, Cpu>,
    key: Tensor<(B, S, Product<NumKeyValueHeads, QKDim>), f32, Cpu>,
    value: Tensor<(B, S, Product<NumKeyValueHeads, VODim>), f32, Cpu>,
    mask: &AttentionMask<B, S, S>,
) -> Result<Tensor<(B, S, Product<QueryHeads, VODim>), f32, Cpu>, OpError> {
    grouped_query_attention(query, value, value.clone(), mask, AttentionOptions::default())
}

fn main() {}
