//! Multi-head attention reads one value per key.
//! Covers `K` of `ops::multi_head_attention`.
//! Right with `SrcLen` for `TgtLen` in line 13.
//! Mutants cover `B` by `Batch`, `H` by `NumHeads`, `Q` by `TgtLen` of `ops::multi_head_attention`.
//! Mutants cover `QKDim` by `QKDim`, `VODim` by `VODim` of `ops::multi_head_attention`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; HeadDim = 2; QKDim = 10; VODim = 11; Batch; }

fn attend(
    query: Tensor<(Batch, TgtLen, Product<NumHeads, QKDim>), f32, Cpu>,
    key: Tensor<(Batch, SrcLen, Product<NumHeads, QKDim>), f32, Cpu>,
    value: Tensor<(Batch, TgtLen, Product<NumHeads, VODim>), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Result<Tensor<(Batch, TgtLen, Product<NumHeads, VODim>), f32, Cpu>, OpError> {
    multi_head_attention(query, key, value, mask, AttentionOptions::default())
}

fn main() {}
