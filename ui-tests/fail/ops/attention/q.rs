//! Attention uses a mask with one row per query.
//! Covers `Q` of `ops::attention`.
//! Right with `TgtLen` for the first `SrcLen` in line 13.
//! Mutants cover `QKDim` by `QKDim`, `VODim` by `VODim` of `ops::attention`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; HeadDim = 2; QKDim = 10; VODim = 11; Batch; }

fn attend(
    query: Tensor<(Batch, NumHeads, TgtLen, QKDim), f32, Cpu>,
    key: Tensor<(Batch, NumHeads, SrcLen, QKDim), f32, Cpu>,
    value: Tensor<(Batch, NumHeads, SrcLen, VODim), f32, Cpu>,
    mask: &AttentionMask<Batch, SrcLen, SrcLen>,
) -> Result<Tensor<(Batch, NumHeads, TgtLen, VODim), f32, Cpu>, OpError> {
    attention(query, key, value, mask, AttentionOptions::default())
}

fn main() {}
