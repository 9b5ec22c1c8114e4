//! Attention reads one value per key.
//! Covers `K` of `ops::attention`.
//! Right with `SrcLen` for `OtherLen` in line 12.
//! Mutants cover `B` by `Batch`, `H` by `NumHeads`, `Q` by `TgtLen` of `ops::attention`.
use typed_transformer::prelude::*;

dims! { TgtLen = 4; SrcLen = 4; OtherLen = 4; NumHeads = 4; HeadDim = 2; Batch; }

fn attend(
    query: Tensor<(Batch, NumHeads, TgtLen, HeadDim), f32, Cpu>,
    key: Tensor<(Batch, NumHeads, SrcLen, HeadDim), f32, Cpu>,
    value: Tensor<(Batch, NumHeads, OtherLen, HeadDim), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Result<Tensor<(Batch, NumHeads, TgtLen, HeadDim), f32, Cpu>, OpError> {
    attention(query, key, value, mask, AttentionOptions::default())
}

fn main() {}
