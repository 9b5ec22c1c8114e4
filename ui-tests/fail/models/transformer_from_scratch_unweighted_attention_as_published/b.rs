//! The sum of values keeps the batch.
//! Covers `B` of `models::transformer_from_scratch::unweighted_attention_as_published`.
//! Right with `Batch` for `OtherBatch` in line 14.
use typed_transformer::{models::transformer_from_scratch::unweighted_attention_as_published, prelude::*};

dims! {
    SrcLen = 5; TgtLen = 7; NumHeads = 4; HeadDim = 2; QKDim = 10; VODim = 11; Batch;
    OtherBatch;
}

fn attend(
    query: Tensor<(Batch, TgtLen, Product<NumHeads, QKDim>), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, Product<NumHeads, QKDim>), f32, Cpu>,
    value: Tensor<(OtherBatch, SrcLen, Product<NumHeads, VODim>), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Tensor<(Batch, TgtLen, Product<NumHeads, VODim>), f32, Cpu> {
    unweighted_attention_as_published(query, key, value, mask, AttentionScale::HeadDim, MaskFill::MinValue)
}

fn main() {}
