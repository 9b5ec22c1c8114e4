//! Attention weights use a mask with one column per key.
//! Covers `K` of `ops::attention_weights`.
//! Right with `SrcLen` for the second `TgtLen` in line 12.
//! Mutants cover `B` by `Batch`, `H` by `NumHeads`, `Q` by `TgtLen`, `QKDim` by `QKDim` of `ops::attention_weights`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; HeadDim = 2; QKDim = 10; Batch; }

fn weights(
    query: Tensor<(Batch, NumHeads, TgtLen, QKDim), f32, Cpu>,
    key: Tensor<(Batch, NumHeads, SrcLen, QKDim), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, TgtLen>,
) -> Result<Tensor<(Batch, NumHeads, TgtLen, SrcLen), f32, Cpu>, OpError> {
    attention_weights(query, key, mask, AttentionOptions::default())
}

fn main() {}
