//! Multi-head attention uses a mask with one row per query.
//! Covers `Q` of `ops::multi_head_attention`.
//! Right with `TgtLen` for the first `SrcLen` in line 12.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; HeadDim = 2; QKDim = 10; VODim = 11; Batch; }

fn attend(
    query: Tensor<(Batch, TgtLen, Product<NumHeads, QKDim>), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, Product<NumHeads, QKDim>), f32, Cpu>,
    value: Tensor<(Batch, SrcLen, Product<NumHeads, VODim>), f32, Cpu>,
    mask: &AttentionMask<Batch, SrcLen, SrcLen>,
) -> Tensor<(Batch, TgtLen, Product<NumHeads, VODim>), f32, Cpu> {
    multi_head_attention(query, key, value, mask, AttentionScale::HeadDim, MaskFill::MinValue, 0.0)
}

fn main() {}
