//! Attention compares queries and keys of the same width.
//! Covers `QKDim` of `ops::attention`.
//! Right with `QKDim` for `VODim` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; HeadDim = 2; QKDim = 10; VODim = 11; Batch; }

fn attend(
    query: Tensor<(Batch, NumHeads, TgtLen, QKDim), f32, Cpu>,
    key: Tensor<(Batch, NumHeads, SrcLen, VODim), f32, Cpu>,
    value: Tensor<(Batch, NumHeads, SrcLen, VODim), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Tensor<(Batch, NumHeads, TgtLen, VODim), f32, Cpu> {
    attention(query, key, value, mask, AttentionScale::HeadDim, MaskFill::MinValue, 0.0)
}

fn main() {}
