//! Attention weights use a mask with one row per query.
//! Covers `Q` of `ops::attention_weights`.
//! Right with `TgtLen` for the first `SrcLen` in line 11.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; HeadDim = 2; QKDim = 10; Batch; }

fn weights(
    query: Tensor<(Batch, NumHeads, TgtLen, QKDim), f32, Cpu>,
    key: Tensor<(Batch, NumHeads, SrcLen, QKDim), f32, Cpu>,
    mask: &AttentionMask<Batch, SrcLen, SrcLen>,
) -> Tensor<(Batch, NumHeads, TgtLen, SrcLen), f32, Cpu> {
    attention_weights(query, key, mask, AttentionScale::HeadDim, MaskFill::MinValue)
}

fn main() {}
