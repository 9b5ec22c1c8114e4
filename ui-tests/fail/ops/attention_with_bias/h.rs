//! There is a bias for each head.
//! Covers `H` of `ops::attention_with_bias`.
//! Right with `NumHeads` for `OtherHeads` in line 14.
//! Mutants cover `B` by `Batch`, `K` by `SrcLen`, `Q` by `TgtLen`, `QKDim` by `QKDim` of `ops::attention_with_bias`.
//! Mutants cover `VODim` by `VODim` of `ops::attention_with_bias`.
use typed_transformer::{ops::attention_with_bias, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; OtherHeads = 4; QKDim = 10; VODim = 11; Batch; OtherBatch; }

fn attend(
    query: Tensor<(Batch, NumHeads, TgtLen, QKDim), f32, Cpu>,
    key: Tensor<(Batch, NumHeads, SrcLen, QKDim), f32, Cpu>,
    value: Tensor<(Batch, NumHeads, SrcLen, VODim), f32, Cpu>,
    bias: Tensor<(OtherHeads, TgtLen, SrcLen), f32, Cpu>,
    mask: &AttentionMask<Batch, TgtLen, SrcLen>,
) -> Tensor<(Batch, NumHeads, TgtLen, VODim), f32, Cpu> {
    attention_with_bias(query, key, value, bias, mask, AttentionScale::One, MaskFill::MinValue, 0.0)
}

fn main() {}
