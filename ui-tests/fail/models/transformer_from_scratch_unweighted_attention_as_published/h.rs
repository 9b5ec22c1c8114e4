//! The sum of values keeps the heads.
//! Covers `H` of `models::transformer_from_scratch::unweighted_attention_as_published`.
//! Right with `NumHeads` for `OtherHeads` in line 13.
use typed_transformer::{models::transformer_from_scratch::unweighted_attention_as_published, prelude::*};

dims! {
    SrcLen = 5; TgtLen = 7; NumHeads = 4; OtherHeads = 3; HeadDim = 2; QKDim = 10; VODim = 11;
    Batch;
}

fn attend(
    query: Tensor<(Batch, TgtLen, Product<NumHeads, QKDim>), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, Product<OtherHeads, QKDim>), f32, Cpu>,
    value: Tensor<(Batch, SrcLen, Product<NumHeads, VODim>), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Tensor<(Batch, TgtLen, Product<NumHeads, VODim>), f32, Cpu> {
    unweighted_attention_as_published(query, key, value, mask, AttentionScale::HeadDim, MaskFill::MinValue)
}

fn main() {}
