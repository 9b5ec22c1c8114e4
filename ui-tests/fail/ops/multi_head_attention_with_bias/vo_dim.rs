//! Attention returns vectors of the value width.
//! Covers `VODim` of `ops::multi_head_attention_with_bias`.
//! Right with `VODim` for `QKDim` in line 11.
use typed_transformer::{ops::multi_head_attention_with_bias, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; OtherHeads = 4; QKDim = 10; VODim = 11; Batch; OtherBatch; }

fn attend(
    query: Tensor<(Batch, TgtLen, Product<NumHeads, QKDim>), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, Product<NumHeads, QKDim>), f32, Cpu>,
    value: Tensor<(Batch, SrcLen, Product<NumHeads, QKDim>), f32, Cpu>,
    bias: Tensor<(NumHeads, TgtLen, SrcLen), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Tensor<(Batch, TgtLen, Product<NumHeads, VODim>), f32, Cpu> {
    multi_head_attention_with_bias(query, key, value, bias, mask, AttentionScale::One, MaskFill::MinValue, 0.0)
}

fn main() {}
