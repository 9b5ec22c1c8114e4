//! Attention returns vectors of the value width.
//! Covers `VODim` of `ops::grouped_query_attention_with_bias`.
//! Right with `VODim` for `QKDim` in line 15.
use typed_transformer::{ops::grouped_query_attention_with_bias, prelude::*};

dims! {
    SrcLen = 5; TgtLen = 7; KeyValueHeads = 2; OtherHeads = 2; Groups = 3; OtherGroups = 3; QKDim = 10; VODim = 11;
    Batch; OtherBatch;
}
type Heads<Groups> = Product<KeyValueHeads, Groups>;

fn attend(
    query: Tensor<(Batch, TgtLen, Product<Heads<Groups>, QKDim>), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, Product<KeyValueHeads, QKDim>), f32, Cpu>,
    value: Tensor<(Batch, SrcLen, Product<KeyValueHeads, QKDim>), f32, Cpu>,
    bias: Tensor<(Heads<Groups>, TgtLen, SrcLen), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Tensor<(Batch, TgtLen, Product<Heads<Groups>, VODim>), f32, Cpu> {
    grouped_query_attention_with_bias(query, key, value, bias, mask, AttentionScale::HeadDim, MaskFill::MinValue, 0.0)
}

fn main() {}
