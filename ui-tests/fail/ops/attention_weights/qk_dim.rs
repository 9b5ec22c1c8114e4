//! Attention weights compare queries and keys of the same width.
//! Covers `QKDim` of `ops::attention_weights`.
//! Right with `QKDim` for `VODim` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; HeadDim = 2; QKDim = 10; VODim = 11; Batch; }

fn weights(
    query: Tensor<(Batch, NumHeads, TgtLen, QKDim), f32, Cpu>,
    key: Tensor<(Batch, NumHeads, SrcLen, VODim), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Tensor<(Batch, NumHeads, TgtLen, SrcLen), f32, Cpu> {
    attention_weights(query, key, mask, AttentionScale::HeadDim, MaskFill::MinValue)
}

fn main() {}
