//! A bias has the heads of the query in their order: those that share a key are neighbours.
//! Right with `QueryHeads` for `Interleaved` in line 14.
use typed_transformer::{ops::grouped_query_attention, prelude::*};

dims! { SeqLen = 5; NumKeyValueHeads = 2; GroupSize = 3; HeadDim = 4; Batch; }
type QueryHeads = Product<NumKeyValueHeads, GroupSize>;
type Interleaved = Product<GroupSize, NumKeyValueHeads>;

fn attend(
    query: Tensor<(Batch, SeqLen, Product<QueryHeads, HeadDim>), f32, Cpu>,
    key: Tensor<(Batch, SeqLen, Product<NumKeyValueHeads, HeadDim>), f32, Cpu>,
    value: Tensor<(Batch, SeqLen, Product<NumKeyValueHeads, HeadDim>), f32, Cpu>,
    mask: &AttentionMask<Batch, SeqLen, SeqLen>,
    bias: Tensor<(Interleaved, SeqLen, SeqLen), f32, Cpu>,
) -> Result<Tensor<(Batch, SeqLen, Product<QueryHeads, HeadDim>), f32, Cpu>, OpError> {
    let options = AttentionOptions { scale: AttentionScale::One, bias: Some(bias), ..AttentionOptions::default() };
    grouped_query_attention(query, key, value, mask, options)
}

fn main() {}
