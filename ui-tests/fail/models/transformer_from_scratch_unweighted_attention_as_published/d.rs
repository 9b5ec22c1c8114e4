//! Query and key of the published sum are on the same device.
//! Covers `D` of `models::transformer_from_scratch::unweighted_attention_as_published`.
//! Right with `One` for `Other` in line 10.
use typed_transformer::{models::transformer_from_scratch::unweighted_attention_as_published, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; QKDim = 10; VODim = 11; Batch; }

fn attend<One: Backend<f32>, Other: Backend<f32>>(
    query: Tensor<(Batch, TgtLen, Product<NumHeads, QKDim>), f32, One>,
    key: Tensor<(Batch, SrcLen, Product<NumHeads, QKDim>), f32, Other>,
    value: Tensor<(Batch, SrcLen, Product<NumHeads, VODim>), f32, One>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Result<Tensor<(Batch, TgtLen, Product<NumHeads, VODim>), f32, One>, OpError> {
    unweighted_attention_as_published(query, key, value, mask, AttentionOptions::default())
}

fn main() {}
