//! Attention weights use a mask of their own batch.
//! Covers `B` of `ops::attention_weights`.
//! Right with `Batch` for `OtherBatch` in line 11.
use typed_transformer::prelude::*;

dims! { SeqLen = 4; NumHeads = 4; HeadDim = 2; Batch = 3; OtherBatch = 3; }

fn weights(
    query: Tensor<(Batch, NumHeads, SeqLen, HeadDim), f32, Cpu>,
    key: Tensor<(Batch, NumHeads, SeqLen, HeadDim), f32, Cpu>,
    mask: &AttentionMask<OtherBatch, SeqLen, SeqLen>,
) -> Tensor<(Batch, NumHeads, SeqLen, SeqLen), f32, Cpu> {
    attention_weights(query, key, mask, AttentionScale::HeadDim, MaskFill::MinValue)
}

fn main() {}
