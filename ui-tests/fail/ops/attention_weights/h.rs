//! Attention weights compare queries and keys of the same heads.
//! Covers `H` of `ops::attention_weights`.
//! Right with `NumHeads` for `OtherHeads` in line 10.
use typed_transformer::prelude::*;

dims! { NumHeads = 4; OtherHeads = 4; HeadDim = 2; SeqLen; Batch; }

fn weights(
    query: Tensor<(Batch, NumHeads, SeqLen, HeadDim), f32, Cpu>,
    key: Tensor<(Batch, OtherHeads, SeqLen, HeadDim), f32, Cpu>,
    mask: &AttentionMask<Batch, SeqLen, SeqLen>,
) -> Tensor<(Batch, NumHeads, SeqLen, SeqLen), f32, Cpu> {
    attention_weights(query, key, mask, AttentionScale::HeadDim, MaskFill::MinValue)
}

fn main() {}
